import type { PodContext } from '../../../machines/pod-upgrade/context.ts'
import { goalUnprobedMs, isWayBack, quietMs } from '../../../machines/pod-upgrade/facts.ts'
import { podUpgradeMachine } from '../../../machines/pod-upgrade/index.ts'
import type { PodPorts } from '../../../machines/pod-upgrade/ports.ts'
import type { PodView } from '../../pods/glossary.ts'
import { portActors } from '../../../machines/pod-upgrade/ports.ts'
import { pollDelayMs, retryDelayMs } from './poll-delay.ts'
import type { RunSettings } from '../settings.ts'
import type { Traffic } from '../traffic/traffic.ts'

export interface PodMachineOptions {
  ports: PodPorts
  settings: RunSettings
  traffic: Traffic
  /** The time for which the pod has been in its state, in milliseconds. */
  waitedMs(uid: string): number
  /** The time for which the pod must be Ready by its workload, in milliseconds. */
  minReadyMs(pod: PodView): number
  /** The rest of the time in which the pod must become ready, in milliseconds. */
  readyInMs(uid: string): number
}

interface From {
  context: PodContext
}

/** The machine of every pod of a run, with the ports and the delays of the run. */
export function podMachine({
  ports,
  settings,
  traffic,
  waitedMs,
  readyInMs,
  minReadyMs,
}: PodMachineOptions): typeof podUpgradeMachine {
  const graceMs = ({ context }: From): number => context.pod.gracePeriodSeconds * 1000
  return podUpgradeMachine.provide({
    actors: portActors(ports),
    guards: {
      mayProceed: () => settings.onDrainDeadline === 'proceed',
      rollsBack: () => settings.onFailure === 'rollback',
      // A call beside the machine, after a reload, counts as well.
      hasLateCall: ({ context }) => context.lateCall || traffic.hasOvertaken(context.uid),
    },
    delays: {
      retry: ({ context }) => retryDelayMs(waitedMs(context.uid)),
      poll: ({ context }) => pollDelayMs(waitedMs(context.uid)),
      settle: ({ context: { record } }) =>
        record?.undrained ? 0 : (settings.settleMs ?? traffic.settleMs(record?.targets ?? [])),
      quiet: ({ context }) => quietMs(context),
      lateArrival: ({ context }) => traffic.lateMs(context.uid),
      readyFor: ({ context }) => Math.max(settings.readyForMs, minReadyMs(context.pod), goalUnprobedMs(context)),
      drainDeadline: settings.drainDeadlineMs,
      restartDeadline: (from) =>
        graceMs(from) + (isWayBack(from.context) ? settings.rollbackDeadlineMs : settings.restartDeadlineMs),
      readyDeadline: ({ context }) => readyInMs(context.uid),
      restoreDeadline: settings.restoreDeadlineMs,
      settleDeadline: settings.readyDeadlineMs + settings.restoreDeadlineMs,
    },
  })
}
