import type { PodContext } from '../../../machines/pod-upgrade/context.ts'
import { goalUnprobedMs, namesWantedImages } from '../../../machines/pod-upgrade/facts.ts'
import { podUpgradeMachine } from '../../../machines/pod-upgrade/index.ts'
import type { PodPorts } from '../../../machines/pod-upgrade/ports.ts'
import { portActors } from '../../../machines/pod-upgrade/ports.ts'
import { pollDelayMs, retryDelayMs } from './poll-delay.ts'
import type { RunSettings } from '../settings.ts'
import type { Traffic } from '../traffic/traffic.ts'

/** On top of the grace period, until an unchanged container counts as restarted (where there was no witness). */
const QUIET_MARGIN_MS = 5_000
/**
 * The same where its status does not even name the wanted image. Found by simulation: a kubelet that stops right after it
 * has said that it saw the patch leaves the old image so. By then the node controller has said that it is not ready.
 */
const UNNAMED_MARGIN_MS = 60_000

export interface PodMachineOptions {
  ports: PodPorts
  settings: RunSettings
  traffic: Traffic
  /** For how long this pod, by its uid, has been in the state that it is in. */
  waitedMs(uid: string): number
  /** How long it still has to be ready. */
  readyInMs(uid: string): number
}

interface From {
  context: PodContext
}

/** The machine of every pod of a run: with its ports, and with its settings for delays. */
export function podMachine({ ports, settings, traffic, waitedMs, readyInMs }: PodMachineOptions): typeof podUpgradeMachine {
  const graceMs = ({ context }: From): number => context.pod.gracePeriodSeconds * 1000
  return podUpgradeMachine.provide({
    actors: portActors(ports),
    guards: {
      mayProceed: () => settings.onDrainDeadline === 'proceed',
      rollsBack: () => settings.onFailure === 'rollback',
      // Also one that was made besides: where a reload was seen.
      hasLateCall: ({ context }) => context.lateCall || traffic.hasOvertaken(context.uid),
    },
    delays: {
      retry: ({ context }) => retryDelayMs(waitedMs(context.uid)),
      poll: ({ context }) => pollDelayMs(waitedMs(context.uid)),
      settle: ({ context }) => settings.settleMs ?? traffic.settleMs(context.record?.targets ?? []),
      quiet: (from) => graceMs(from) + (namesWantedImages(from.context) ? QUIET_MARGIN_MS : UNNAMED_MARGIN_MS),
      lateArrival: ({ context }) => traffic.lateMs(context.uid),
      readyFor: ({ context }) => Math.max(settings.readyForMs, goalUnprobedMs(context)),
      drainDeadline: settings.drainDeadlineMs,
      restartDeadline: (from) =>
        graceMs(from) + (from.context.record?.rollback ? settings.rollbackDeadlineMs : settings.restartDeadlineMs),
      readyDeadline: ({ context }) => readyInMs(context.uid),
      restoreDeadline: settings.restoreDeadlineMs,
      settleDeadline: settings.readyDeadlineMs + settings.restoreDeadlineMs,
    },
  })
}
