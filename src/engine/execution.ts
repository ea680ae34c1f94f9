import { AdapterError } from '../../adapters/contract.ts'
import type { PodUpgradeInput } from '../../machines/pod-upgrade/context.ts'
import type { PatchOperation } from '../kube/client.ts'
import { asksFor } from '../pods/baseline.ts'
import type { PodView } from '../pods/glossary.ts'
import { WorkloadError } from '../workloads/errors.ts'
import { messageOf, RunError } from './errors.ts'
import type { PodResult, RunEventBody, RunOutcome, RunResult } from './events.ts'
import { closeLedgers, ghostsOf, openRunLedger } from './history.ts'
import type { RunLedgers } from './history.ts'
import type { Ownership } from './ownership.ts'
import { takeOwnership } from './ownership.ts'
import { leaseName } from './lease.ts'
import { createPodPorts, rehearse } from './pod-ports.ts'
import { podsPath } from './pod-store.ts'
import type { Rollout } from './rollout.ts'
import { createRollout } from './rollout.ts'
import type { RunPorts, RunRequest } from './request.ts'
import { worstOutcome } from './outcome.ts'
import type { AssessedWorkload, World } from './world.ts'

export interface Execution {
  run(): Promise<RunResult>
  interrupt(graceMs: number): void
}

export interface ExecutionOptions {
  request: RunRequest
  ports: RunPorts
  world: World
  tell(event: RunEventBody): void
}

const NOTHING_DONE: Omit<RunResult, 'reason' | 'outcome'> = { run: '', pods: [] }

/** Carries a plan out: ownership, ledger, templates, pods; and gives everything back in the end. */
export function createExecution({ request, ports, world, tell }: ExecutionOptions): Execution {
  const { client, clock } = ports
  const { namespace } = request
  const stopping = new AbortController()
  const owners = new Map<AssessedWorkload, Ownership>()
  let rollout: Rollout | undefined
  /** Why the run ended otherwise than its pods did. */
  let ending: { outcome: RunOutcome; reason: string } | undefined

  async function run(): Promise<RunResult> {
    const { refusals } = world.plan
    if (refusals.length > 0)
      return finish({ ...NOTHING_DONE, outcome: 'refused', reason: refusals.map(({ message }) => message).join('; ') })
    try {
      await takeAll()
      return finish(await upgrade())
    } catch (error) {
      return finish(notStarted(error))
    } finally {
      await Promise.all([...owners.values()].map((ownership) => ownership.release()))
    }
  }

  function finish(result: RunResult): RunResult {
    tell({ type: 'finished', result })
    return result
  }

  function notStarted(error: unknown): RunResult {
    const reason = messageOf(error)
    if (stopping.signal.aborted)
      return { ...NOTHING_DONE, outcome: 'interrupted', reason: 'interrupted before any pod was touched' }
    if (ending) return { ...NOTHING_DONE, ...ending }
    if (error instanceof RunError) return { ...NOTHING_DONE, outcome: error.kind === 'conflict' ? 'conflict' : 'refused', reason }
    if (error instanceof WorkloadError) {
      const outcome = error.kind === 'conflict' ? 'conflict' : error.kind === 'deadline' ? 'deadline' : 'refused'
      return { ...NOTHING_DONE, outcome, reason }
    }
    throw error
  }

  /** One Lease per workload, in one order for all runs, so that two of them never wait for each other. */
  async function takeAll(): Promise<void> {
    for (const assessed of world.workloads) {
      const { workload } = assessed
      const ownership = await takeOwnership({
        client,
        clock,
        namespace,
        lease: leaseName(workload.ref),
        holder: `${ports.identity}_${token(ports, 6)}`,
        epochFloor: epochFloor(assessed),
        signal: stopping.signal,
        onWaiting: (holder, remainingMs) => tell({ type: 'leaseWaiting', lease: leaseName(workload.ref), holder, remainingMs }),
        onLost(holder) {
          const reason = `${holder} has taken the Lease ${leaseName(workload.ref)}`
          ending ??= { outcome: 'conflict', reason }
          rollout?.lose(reason)
        },
        onTrouble: (error) => tell({ type: 'warning', message: `the Lease could not be renewed: ${messageOf(error)}` }),
      })
      owners.set(assessed, ownership)
    }
  }

  function epochFloor({ workload }: AssessedWorkload): number {
    let floor = 0
    for (const { pod, stored } of world.store.all()) {
      if (stored.kind === 'read' && workload.owns(pod)) floor = Math.max(floor, stored.journal.epoch)
    }
    return floor
  }

  function ownerOf(pod: PodView): Ownership | undefined {
    const assessed = world.workloadOf(pod)
    return assessed && owners.get(assessed)
  }

  async function upgrade(): Promise<RunResult> {
    const rehearsed = await rehearseFirst()
    const ledgers = await openRunLedger({ request, ports, world, token: token(ports, 10), tell })
    const { run } = ledgers.current.ledger.header
    await prepareWorkloads()
    const members = new Map<string, PodView>()
    const ghosts = await ghostsOf({ ledgers, world, client, namespace, epochOf: (pod) => ownerOf(pod)?.epoch ?? anyEpoch() })
    for (const { pod } of ghosts) members.set(pod.uid, pod)

    const podOf = (uid: string): PodView => {
      const pod = world.store.get(uid)?.pod
      if (pod) members.set(uid, pod)
      return members.get(uid)!
    }
    const assertOwned = (uid: string): void => {
      const ownership = ownerOf(podOf(uid)) ?? anyOwner()
      if (!ownership?.isHeld()) throw new AdapterError('engine', 'retryable', 'the Lease is not held at this moment')
    }
    world.setOwnership(assertOwned)
    rollout = createRollout({
      clock,
      settings: request.settings,
      window: world.plan.window,
      store: world.store,
      endpoints: world.endpoints,
      traffic: world.traffic,
      includes: world.includes,
      ports: createPodPorts({
        client,
        namespace,
        store: world.store,
        traffic: world.traffic,
        ledger: ledgers.current,
        podOf,
        podOperations,
        isOwned: (uid) => (ownerOf(podOf(uid)) ?? anyOwner())?.isHeld() ?? false,
      }),
      inputFor(pod) {
        const observation = world.store.get(pod.uid)
        const assessed = world.workloadOf(pod)
        if (!observation || !assessed) return undefined
        members.set(pod.uid, pod)
        const address = ledgers.current.ledger.entries.get(pod.uid)?.address
        return {
          ...observation,
          run,
          epoch: owners.get(assessed)!.epoch,
          wanted: assessed.assessment.images,
          rehearsed: rehearsed.has(pod.uid),
          ...(address === undefined ? {} : { address }),
          gone: false,
        } satisfies PodUpgradeInput
      },
      expectsHeir: (pod) => world.workloadOf(pod)?.workload.replaces(pod) ?? true,
      isOperatorOut: (uid) => world.plan.pods.some((one) => one.uid === uid && one.targets.some(({ inRotation }) => !inRotation)),
      tell,
    })
    watchFor(rollout)
    tell({
      type: 'started',
      run,
      epoch: anyEpoch(),
      resumed: ledgers.resumed,
      pods: world.plan.pods.filter(({ action }) => action !== 'skip').map(({ uid, name }) => ({ uid, pod: name })),
    })
    rollout.start(ghosts)
    const pods = await rollout.finished
    await conclude(ledgers, pods)
    return { run, ...(ending ?? worstOutcome(pods)), pods }
  }

  /**
   * The dry run of the pods that will start at once: admission refuses before anything is touched, templates included.
   * The others have theirs when their turn comes, which may be hours later.
   */
  async function rehearseFirst(): Promise<Set<string>> {
    const first = world.plan.pods.filter(({ action }) => action === 'upgrade').slice(0, world.plan.window)
    const rehearsed = new Set<string>()
    await Promise.all(
      first.map(async ({ uid }) => {
        const pod = world.store.get(uid)?.pod
        const assessed = pod && world.workloadOf(pod)
        if (!pod || !assessed) return
        const answer = await rehearse(client, namespace, pod, assessed.assessment.images, [])
        if (answer.kind === 'refused')
          throw new RunError('preflight', `the API server refuses the patch of pod/${pod.name}: ${answer.message}`)
        if (answer.kind === 'accepted') rehearsed.add(uid)
      }),
    )
    return rehearsed
  }

  async function prepareWorkloads(): Promise<void> {
    for (const { workload, assessment } of world.workloads) {
      const name = `${workload.ref.kind.toLowerCase()}/${workload.ref.name}`
      await workload.prepare(assessment.images, {
        signal: stopping.signal,
        onProgress: (message) => tell({ type: 'template', workload: name, message }),
      })
      for (const { pod, stored } of world.store.all()) {
        const isOpen = stored.kind === 'read' && stored.journal.step !== 'closed'
        if (isOpen || pod.deleting || !workload.owns(pod) || !world.includes(pod)) continue
        if (asksFor(pod, assessment.images) && !workload.hasRevision(pod)) await label(pod, workload.podOperations(pod))
      }
    }
  }

  /** A pod that runs the images already, patched by hand perhaps, only lacks the label that its owner counts by. */
  async function label(pod: PodView, operations: PatchOperation[]): Promise<void> {
    if (operations.length === 0) return
    try {
      world.store.observe(
        await client.patch(podsPath(namespace, pod.name), [{ op: 'test', path: '/metadata/uid', value: pod.uid }, ...operations]),
      )
    } catch (error) {
      tell({ type: 'warning', pod: pod.name, message: `its revision label could not be set: ${messageOf(error)}` })
    }
  }

  function podOperations(pod: PodView): PatchOperation[] {
    return world.workloadOf(pod)?.workload.podOperations(pod) ?? []
  }

  function watchFor(live: Rollout): void {
    world.listen({
      onPod: live.onPod,
      onGone: live.onGone,
      onEndpoints: live.onEndpoints,
      onBlind(error) {
        ending ??= { outcome: 'deadline', reason: `the cluster cannot be watched any more: ${messageOf(error)}` }
        live.checkpoint()
      },
    })
    for (const { workload } of world.workloads) {
      workload.onDrift(({ message }) => {
        ending ??= { outcome: 'conflict', reason: message }
        live.hold(message)
      })
    }
    if (ending) live.lose(ending.reason)
    if (stopping.signal.aborted) live.interrupt(0)
  }

  async function conclude(ledgers: RunLedgers, pods: readonly PodResult[]): Promise<void> {
    try {
      if (ending?.outcome !== 'conflict' || [...owners.values()].every((ownership) => ownership.isHeld())) {
        await closeLedgers({ ledgers, pods, world, client, namespace, clock })
      }
    } catch (error) {
      tell({ type: 'warning', message: `the ledger could not be closed: ${messageOf(error)}` })
    }
  }

  function anyOwner(): Ownership | undefined {
    return owners.values().next().value
  }

  function anyEpoch(): number {
    return anyOwner()?.epoch ?? 1
  }

  return {
    run,
    interrupt(graceMs) {
      if (rollout) {
        ending ??= { outcome: 'interrupted', reason: 'interrupted' }
        rollout.interrupt(graceMs)
      }
      stopping.abort(new Error('interrupted'))
    },
  }
}

const ALPHABET = 'abcdefghijkmnpqrstuvwxyz23456789'

/** A name that no other run has: letters and digits that a Kubernetes name may hold, without those that look alike. */
function token({ random }: Pick<RunPorts, 'random'>, length: number): string {
  return Array.from({ length }, () => ALPHABET[Math.floor(random.next() * ALPHABET.length)]).join('')
}
