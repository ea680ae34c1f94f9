import type { KubeObject } from '../../../sim/api-server/server.ts'
import type { RefusalCode } from '../../../src/reasons/refusals.ts'
import { barePod, type Bed, CONTAINER, deployment, podTemplate, statefulSet } from './bed.ts'

/**
 * A way out of a refusal:
 * - `command`: the command below the hint, pasted unchanged; `meanwhile` makes the change that it waits for
 * - `flag`: the flag in the hint, typed behind the command, or in place of the flag in the command below the hint
 * - `arguments`: other arguments, which the output names; `flag` is a flag that is named without a value
 * - `byHand`: a change of the cluster or the load balancer as the hint says, without a command
 * - `elsewhere`: not with sluice, which has no command or flag for it
 */
export type Way =
  | { kind: 'command'; meanwhile?(bed: Bed): void }
  | { kind: 'flag' | 'elsewhere' }
  | { kind: 'arguments'; take(printed: string, args: readonly string[]): string[]; flag?: string; hand?(bed: Bed): Promise<void> }
  | { kind: 'byHand'; hand(bed: Bed): Promise<void> | void }

export interface RefusalRow {
  code: RefusalCode
  name: string
  /** Brings the refusal about. Returns the arguments of `plan`. */
  set(bed: Bed): Promise<string[]>
  /** The ways out. Each is tried on a bed of its own. */
  ways: Way[]
  /** The refusal that follows for another reason. */
  after?: RefusalCode
}

/** For each code, whether the table has it. The other codes need a race, or a caller of the library. */
export const CODES: Record<RefusalCode, 'table' | 'apart'> = {
  'container-twice': 'apart',
  'init-container': 'table',
  'left-open': 'table',
  'load-balancer-dropped': 'table',
  'min-ready-too-long': 'table',
  'no-address': 'table',
  'no-image': 'table',
  'no-pods': 'table',
  'not-in-load-balancer': 'table',
  'restart-policy': 'table',
  'revision-differs': 'table',
  'revision-unknown': 'table',
  'rollout-in-progress': 'table',
  'template-drift': 'table',
  'unknown-container': 'table',
  'unreadable-journal': 'table',
  'unsupported-owner': 'table',
  'update-strategy': 'table',
  'window-full': 'table',
  'workload-deleting': 'table',
  'workload-gone': 'apart',
  'workload-paused': 'table',
}

const V2 = ['sts/web', 'app=app:v2']
const DEPLOYED = ['deploy/web', 'app=app:v2', '--accept-template-drift']
const JOURNAL = 'sluice.dev/journal'
const COMMAND: Way = { kind: 'command' }
const FLAG: Way = { kind: 'flag' }
const ELSEWHERE: Way = { kind: 'elsewhere' }
const byHand = (hand: (bed: Bed) => Promise<void> | void): Way => ({ kind: 'byHand', hand })
const withArguments = (take: (printed: string, args: readonly string[]) => string[]): Way => ({ kind: 'arguments', take })

async function web(bed: Bed, options: Parameters<typeof statefulSet>[0] = {}): Promise<void> {
  bed.cluster.apply(statefulSet(options))
  await bed.ready(options.replicas ?? 1)
  await bed.balance()
}

async function bare(bed: Bed, options: Parameters<typeof barePod>[0] = {}): Promise<void> {
  bed.cluster.apply(barePod(options))
  await bed.ready(1)
  await bed.balance()
}

function change(bed: Bed, resource: string, name: string, by: (object: KubeObject) => object): void {
  bed.cluster.apiServer.store.update(resource, 'default', name, (now) => by(now) as typeof now, 'somebody')
}

const withAnnotation = (key: string, value: string) => (object: KubeObject) => ({
  ...object,
  metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [key]: value } },
})

/** Runs an upgrade that leaves the pod drained and patched: its image is never ready, and the run does not wait. */
export async function leaveHalfDone(bed: Bed, ...args: string[]): Promise<void> {
  const { terminal, ended } = bed.start('upgrade', ...args, '--grace', '0s')
  await bed.until(() => bed.pods().some(({ spec }) => spec.containers[0]!.image === 'app:slow'))
  await bed.until(() => terminal.written.out.includes('patch'))
  terminal.events.emit('SIGINT')
  await ended
}

function minReady(bed: Bed, minReadySeconds: number): void {
  bed.cluster.apply({ ...statefulSet(), spec: { minReadySeconds } })
}

async function makeAnew(bed: Bed): Promise<void> {
  await bed.ready(0)
  await web(bed)
}

export const REFUSALS: RefusalRow[] = [
  {
    code: 'no-pods',
    name: 'a label that no pod has',
    set: async (bed) => {
      await web(bed)
      return ['-l', 'app=wbe', 'app=app:v2']
    },
    ways: [withArguments(() => ['-l', 'app=web', 'app=app:v2'])],
  },
  {
    code: 'no-image',
    name: 'a bare pod without an image',
    set: async (bed) => {
      await bare(bed)
      return ['pod/web']
    },
    ways: [withArguments((_, args) => [...args, 'app=app:v2'])],
  },
  {
    code: 'unknown-container',
    name: 'a container of another name',
    set: async (bed) => {
      await web(bed)
      return ['sts/web', 'ap=app:v2']
    },
    ways: [withArguments((printed) => ['sts/web', `${/the containers are: (\w+)/.exec(printed)![1]}=app:v2`])],
  },
  {
    code: 'init-container',
    name: 'an init container',
    set: async (bed) => {
      await web(bed, {
        template: podTemplate([CONTAINER], { initContainers: [{ name: 'init', image: 'app:v1', restartPolicy: 'Always' }] }),
      })
      return [...V2, 'init=app:v2']
    },
    ways: [withArguments((printed) => ['sts/web', `${/can be upgraded \((\w+)\)/.exec(printed)![1]}=app:v2`])],
  },
  {
    code: 'restart-policy',
    name: 'a pod that is not restarted',
    set: async (bed) => {
      await bare(bed, { restartPolicy: 'OnFailure' })
      return ['pod/web', 'app=app:v2']
    },
    ways: [
      byHand(async (bed) => {
        bed.cluster.deletePod('default', 'web')
        await bed.ready(0)
        await bare(bed, { restartPolicy: 'OnFailure', image: 'app:v2' })
      }),
    ],
  },
  ...['apps.kruise.io/v1alpha1 CloneSet', 'batch/v1 Job', 'v1 Node', 'example.org/v1 Thing'].map((owner): RefusalRow => ({
    code: 'unsupported-owner',
    name: `a pod of ${owner}`,
    set: async (bed) => {
      const [apiVersion = '', kind = ''] = owner.split(' ')
      await bare(bed, { ownerReferences: [{ apiVersion, kind, name: 'other', uid: 'other', controller: true }] })
      return ['pod/web', 'app=app:v2']
    },
    ways: [ELSEWHERE],
  })),
  {
    code: 'update-strategy',
    name: 'a StatefulSet that rolls its pods itself',
    set: async (bed) => {
      await web(bed, { strategy: 'RollingUpdate' })
      return V2
    },
    ways: [COMMAND],
  },
  {
    code: 'workload-paused',
    name: 'a paused Deployment',
    set: async (bed) => {
      bed.cluster.apply(deployment())
      await bed.ready(1)
      await bed.balance()
      bed.cluster.apply({ ...deployment(), spec: { paused: true } })
      return DEPLOYED
    },
    ways: [COMMAND],
  },
  {
    code: 'rollout-in-progress',
    name: 'a Deployment that has a rollout',
    set: async (bed) => {
      bed.cluster.apply(deployment())
      await bed.ready(1)
      await bed.balance()
      // A rollout of the embedded cluster is over at once, so a further ReplicaSet keeps it from its end.
      const { store } = bed.cluster.apiServer
      const [newest] = store.list('replicasets.apps', 'default')
      store.create(
        'replicasets.apps',
        {
          ...newest!,
          metadata: {
            ...newest!.metadata,
            name: 'web-former',
            uid: 'former',
            labels: {},
            deletionTimestamp: new Date().toISOString(),
          },
          status: { replicas: 1 },
        },
        'somebody',
      )
      await bed.until(() => (store.get('deployments.apps', 'default', 'web')!['status'] as { replicas: number }).replicas === 2)
      return DEPLOYED
    },
    ways: [
      {
        kind: 'command',
        meanwhile: (bed) => void bed.cluster.apiServer.store.remove('replicasets.apps', 'default', 'web-former', 'somebody'),
      },
    ],
  },
  {
    code: 'template-drift',
    name: 'a Deployment',
    set: async (bed) => {
      bed.cluster.apply(deployment())
      await bed.ready(1)
      await bed.balance()
      return ['deploy/web', 'app=app:v2']
    },
    ways: [FLAG],
  },
  {
    code: 'workload-deleting',
    name: 'a StatefulSet on its way out',
    set: async (bed) => {
      const set = statefulSet()
      bed.cluster.apply({ ...set, metadata: { ...set.metadata, finalizers: ['example.org/last-words'] } })
      await bed.ready(1)
      await bed.balance()
      change(bed, 'statefulsets.apps', 'web', (one) => ({
        ...one,
        metadata: { ...one.metadata, deletionTimestamp: new Date().toISOString() },
      }))
      return V2
    },
    ways: [
      byHand(async (bed) => {
        bed.cluster.apiServer.store.remove('statefulsets.apps', 'default', 'web', 'somebody')
        await makeAnew(bed)
      }),
    ],
  },
  {
    code: 'revision-unknown',
    name: 'a pod of a revision that is not known',
    set: async (bed) => {
      await web(bed)
      change(bed, 'pods', 'web-0', (pod) => ({
        ...pod,
        metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, 'controller-revision-hash': 'web-lost' } },
      }))
      return V2
    },
    ways: [byHand(recreate)],
  },
  {
    code: 'revision-differs',
    name: 'a template that has changed in more than images',
    set: async (bed) => {
      await web(bed)
      bed.cluster.apply(statefulSet({ template: podTemplate([{ ...CONTAINER, env: [{ name: 'A', value: 'b' }] }]) }))
      await bed.observed()
      return V2
    },
    ways: [byHand((bed) => bed.cluster.apply(statefulSet())), byHand(recreate)],
  },
  {
    code: 'revision-differs',
    name: 'a template that has changed in other images',
    set: async (bed) => {
      const sidecar = (image: string) => podTemplate([CONTAINER, { name: 'proxy', image }])
      await web(bed, { template: sidecar('proxy:v1') })
      bed.cluster.apply(statefulSet({ template: sidecar('proxy:v2') }))
      await bed.observed()
      return V2
    },
    ways: [withArguments((printed) => ['sts/web', ...(/images too: (.*)/.exec(printed)![1] as string).split(' ')])],
  },
  {
    code: 'no-address',
    name: 'a pod that has not started',
    set: async (bed) => {
      await web(bed)
      bed.cluster.stopKubelet('node-0')
      bed.cluster.apply(statefulSet({ replicas: 2 }))
      await bed.until(() => bed.pods().length === 2)
      return V2
    },
    ways: [
      byHand(async (bed) => {
        bed.cluster.continueKubelet('node-0')
        await bed.ready(2)
        await bed.balance()
      }),
    ],
  },
  {
    code: 'not-in-load-balancer',
    name: 'a pod that the load balancer does not have',
    set: async (bed) => {
      await web(bed, { replicas: 2 })
      await bed.balance({ names: ['web-0'] })
      return V2
    },
    ways: [FLAG, byHand((bed) => bed.balance())],
  },
  {
    code: 'not-in-load-balancer',
    name: 'a pod that cannot be told from another',
    set: async (bed) => {
      await web(bed, { replicas: 2 })
      await bed.balance({ id: '"one"' })
      return V2
    },
    ways: [byHand((bed) => bed.balance())],
  },
  {
    code: 'window-full',
    name: 'a server in maintenance',
    set: async (bed) => {
      await web(bed, { replicas: 3 })
      await bed.setState('web-0', 'maint')
      return V2
    },
    ways: [byHand((bed) => bed.setState('web-0', 'ready')), withArguments((_, args) => [...args, '--max-unavailable', '2'])],
  },
  {
    code: 'load-balancer-dropped',
    name: 'a load balancer that the config has under another name',
    set: async (bed) => {
      await web(bed)
      await bed.sluice('upgrade', ...V2)
      await bed.balance({ as: 'front' })
      return ['sts/web', 'app=app:v3']
    },
    ways: [FLAG, byHand((bed) => bed.balance())],
  },
  {
    code: 'min-ready-too-long',
    name: 'a StatefulSet that asks for more time than there is',
    set: async (bed) => {
      await web(bed)
      minReady(bed, 7200)
      return V2
    },
    ways: [
      { kind: 'arguments', flag: '--ready-deadline', take: (_, args) => [...args, '--ready-deadline', '3h'] },
      byHand((bed) => minReady(bed, 1)),
    ],
  },
  {
    code: 'unreadable-journal',
    name: 'a journal that somebody has edited, of a pod that no run has on record',
    set: async (bed) => {
      await web(bed)
      change(bed, 'pods', 'web-0', withAnnotation(JOURNAL, '{'))
      return V2
    },
    ways: [COMMAND],
  },
  {
    code: 'unreadable-journal',
    name: 'a journal that somebody has edited, of a pod that a run has left half done',
    set: async (bed) => {
      await web(bed)
      await leaveHalfDone(bed, 'sts/web', 'app=app:slow')
      change(bed, 'pods', 'web-0', withAnnotation(JOURNAL, '{'))
      return V2
    },
    ways: [COMMAND, FLAG],
  },
  {
    code: 'left-open',
    name: 'a half-done pod, beside something else that is refused',
    set: async (bed) => {
      await web(bed)
      await leaveHalfDone(bed, 'sts/web', 'app=app:slow')
      bed.cluster.apply(statefulSet({ strategy: 'RollingUpdate' }))
      return V2
    },
    ways: [
      byHand((bed) =>
        bed.cluster.apply({ ...statefulSet(), spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } }),
      ),
    ],
  },
  {
    code: 'left-open',
    name: 'a label that went with the drained pod of a workload',
    set: async (bed) => {
      await web(bed)
      const withRole = (pod: KubeObject) => ({
        ...pod,
        metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, role: 'first' } },
      })
      change(bed, 'pods', 'web-0', withRole)
      await leaveHalfDone(bed, '-l', 'role=first', 'app=app:slow')
      const { uid } = bed.pod('web-0').metadata
      bed.cluster.deletePod('default', 'web-0')
      await bed.until(() => bed.pods().some((pod) => pod.metadata.uid !== uid && pod.status?.podIP !== undefined))
      await entryFollows(bed)
      return ['-l', 'role=first', 'app=app:v2']
    },
    ways: [withArguments(inPlaceOfLabel)],
  },
  {
    code: 'left-open',
    name: 'a label that went with the last pod of a workload, which was drained',
    set: async (bed) => {
      await web(bed)
      await leaveHalfDone(bed, '-l', 'app=web', 'app=app:slow')
      bed.cluster.apply(statefulSet({ replicas: 0 }))
      await bed.ready(0)
      return ['-l', 'app=web', 'app=app:v2']
    },
    ways: [
      {
        kind: 'arguments',
        take: inPlaceOfLabel,
        hand: async (bed) => {
          bed.cluster.apply(statefulSet())
          await bed.until(() => bed.pods().some(({ status }) => status?.podIP !== undefined))
          await entryFollows(bed)
        },
      },
    ],
  },
  {
    code: 'left-open',
    name: 'a label that went with a drained pod of its own',
    set: async (bed) => {
      await bare(bed)
      await leaveHalfDone(bed, '-l', 'app=web', 'app=app:slow')
      bed.cluster.deletePod('default', 'web')
      await bed.ready(0)
      return ['-l', 'app=web', 'app=app:v2']
    },
    ways: [COMMAND],
    after: 'no-pods',
  },
]

/** Makes the entry follow its pod by name: it has the address of the replacement, and is still drained. */
async function entryFollows(bed: Bed): Promise<void> {
  await bed.balance()
  await bed.setState('web-0', 'drain')
}

function inPlaceOfLabel(printed: string): string[] {
  return [/the same command with (\S+) in place of the label/.exec(printed)![1]!, 'app=app:v2']
}

async function recreate(bed: Bed): Promise<void> {
  const { uid } = bed.pod('web-0').metadata
  bed.cluster.deletePod('default', 'web-0')
  await bed.until(() => bed.pods().every((pod) => pod.metadata.uid !== uid))
  await bed.ready(1)
  await bed.balance()
}
