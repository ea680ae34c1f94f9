import type { PodUpgradeInput } from '../../machines/pod-upgrade/context.ts'
import type { PatchOperation } from '../kube/client.ts'
import type { PodView, Term } from '../pods/glossary.ts'
import { revisionLabelPatch } from '../workloads/revision-label.ts'
import type { Owners } from './leases/owners.ts'
import type { RunLedgers } from './ledgers/history.ts'
import { allLedgers } from './ledgers/history.ts'
import { isSettled } from './ledgers/open-entries.ts'
import { recordedTargets } from './ledgers/recorded-targets.ts'
import { ghost } from './rollout/ghosts.ts'
import type { World } from './world.ts'

export interface RunPodsOptions {
  world: World
  namespace: string
  ledgers: RunLedgers
  owners: Owners
  /** The uids of the pods whose patch has had its dry run. */
  rehearsed: ReadonlySet<string>
  /** The gone pods that earlier runs left to settle. */
  ghosts: readonly PodUpgradeInput[]
}

/** The knowledge of a run about its pods. */
export interface RunPods {
  /** The pod as it was last seen, also after it is gone. */
  podOf(uid: string): PodView
  /** The epoch of the Lease of the pod's workload, also for a pod that only a ledger knows. */
  epochOf(uid: string): number
  termOf(uid: string): Term | undefined
  /** The input of a pod's machine. Undefined where the pod needs no work. */
  inputFor(pod: PodView): PodUpgradeInput | undefined
  /** The operations that the pod's patch has beside the images. */
  podOperations(pod: PodView): PatchOperation[]
}

export function createRunPods({ world, namespace, ledgers, owners, rehearsed, ghosts }: RunPodsOptions): RunPods {
  const { header } = ledgers.current.ledger
  const known = new Map(ghosts.map(({ pod }) => [pod.uid, pod]))

  return {
    podOf(uid) {
      const pod = world.store.get(uid)?.pod
      if (pod) known.set(uid, pod)
      return known.get(uid)!
    },
    epochOf(uid) {
      const pod = world.store.get(uid)?.pod ?? known.get(uid)
      if (pod) return owners.epochOf(pod)
      const entry = allLedgers(ledgers)
        .find(({ entries }) => entries.has(uid))
        ?.entries.get(uid)
      return entry ? owners.epochOf(ghost(entry, world, namespace)) : owners.epoch
    },
    termOf(uid) {
      const pod = world.store.get(uid)?.pod ?? known.get(uid)
      return pod && owners.termOf(pod)
    },
    inputFor(pod) {
      const observation = world.store.get(pod.uid)
      const assessed = world.workloadOf(pod)
      if (!observation || !assessed) return undefined
      known.set(pod.uid, pod)
      const address = ledgers.addressOf(pod.uid)
      const before = ledgers.current.ledger.entries.get(pod.uid)?.before?.images
      const term = owners.termOf(pod)
      const recorded = observation.stored.kind === 'unreadable' ? recordedTargets(pod.uid, allLedgers(ledgers)) : undefined
      return {
        ...observation,
        run: header.run,
        epoch: owners.epochOf(pod),
        ...(term && { lease: term.lease }),
        wanted: world.imagesFor(pod),
        rehearsed: rehearsed.has(pod.uid),
        ...(world.undoing() === undefined ? {} : { undoes: true as const }),
        ...(address === undefined ? {} : { address }),
        ...(before === undefined ? {} : { before }),
        ...(recorded && { recorded }),
        ...(isSettled(observation, allLedgers(ledgers)) ? { settled: true } : {}),
        gone: false,
      }
    },
    podOperations(pod) {
      const assessed = world.workloadOf(pod)
      if (!assessed) return []
      const label = world.undoing()?.labelOf(pod, assessed.assessment.images)
      return label === undefined ? assessed.workload.podOperations(pod) : revisionLabelPatch(pod, label)
    },
  }
}
