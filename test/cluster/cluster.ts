import { randomBytes } from 'node:crypto'
import type { ChildProcess, SpawnOptions } from 'node:child_process'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readAudit } from './audit.ts'
import type { AuditEvent, AuditFilter } from './audit.ts'
import { ensureBinaries } from './binaries.ts'
import { clustersFolder, readInfo, stateFile, writeInfo } from './cluster-info.ts'
import type { ClusterInfo, Identity } from './cluster-info.ts'
import { hostKubeconfig, insideKubeconfig, startApiServer, startControllers, waitForApi } from './control-plane.ts'
import type { ControlPlaneOptions } from './control-plane.ts'
import { lastLines, restartDaemon, signalDaemon } from './daemon.ts'
import { startForward } from './forward.ts'
import type { Forward } from './forward.ts'
import { connectApi } from './kube-api.ts'
import type { KubeApi } from './kube-api.ts'
import { chosenVersion } from './kubernetes-versions.ts'
import type { KubernetesVersion } from './kubernetes-versions.ts'
import { kubeconfigText } from './kubeconfig.ts'
import type { KubeconfigFrom } from './kubeconfig.ts'
import { enter, spawnInside, startInit } from './namespace.ts'
import type { Scope } from './namespace.ts'
import { ctr, startContainerd, startKubelet } from './node.ts'
import { recordProcess } from './process-record.ts'
import { runCommand } from './run-command.ts'
import type { CommandOptions, CommandResult } from './run-command.ts'
import { assertClusterSupport } from './support.ts'
import { removeCluster, sweepClusters } from './sweep.ts'

export interface ClusterOptions extends ControlPlaneOptions {
  /** The version of Kubernetes. By default, the version in SLUICE_KUBERNETES or the usual one. */
  kubernetes?: KubernetesVersion
  /** False for etcd, API server, controller manager and scheduler only. Such a cluster starts faster, and its pods stay Pending. */
  kubelet?: boolean
  /** Users besides admin, sluice-runner, sluice-viewer and tester, each with a token of its own. */
  identities?: { user: string; groups?: string[] }[]
  /** True for a cluster that stays after the end of the process that started it, until it is taken down. */
  detached?: boolean
}

export interface Cluster {
  readonly info: ClusterInfo
  /** The path of the state file, for `connectCluster` in another process. */
  readonly stateFile: string
  /** The kubeconfigs of the administrator: for a process on the host, and for a process in the network of the cluster. */
  readonly kubeconfig: { host: string; inside: string }
  readonly api: KubeApi
  /** Runs a command in the network of the cluster, and waits for its end. */
  exec(command: string, args: readonly string[], options?: CommandOptions & { scope?: Scope }): Promise<CommandResult>
  /** Starts a command in the network of the cluster. The command is killed with the cluster at the latest. */
  spawn(command: string, args: readonly string[], options?: SpawnOptions): Promise<ChildProcess>
  /** Opens a port on the loopback of the host that leads to an address inside. The caller has to close it. */
  forward(address: string): Promise<Forward>
  /** Writes a kubeconfig for a user other than the administrator. Returns its path. */
  kubeconfigFor(who: Who, from?: KubeconfigFrom): Promise<string>
  audit(filter?: AuditFilter): Promise<AuditEvent[]>
  /** Gives the node the images of an archive. */
  importImages(path: string): Promise<void>
  readonly kubelet: {
    /** Stops the process of the kubelet: the node goes silent, and containers run on. */
    pause(): Promise<void>
    resume(): Promise<void>
    restart(): Promise<void>
  }
  readonly apiServer: {
    /** Restarts the API server. Between its end and its start, no process listens for `awayMs`. */
    restart(awayMs?: number): Promise<void>
  }
  readonly controllerManager: { restart(): Promise<void>; pause(): Promise<void>; resume(): Promise<void> }
  readonly scheduler: { pause(): Promise<void>; resume(): Promise<void> }
  /** Kills the process of a container by SIGKILL. The kubelet then starts a new container. */
  killContainer(namespace: string, pod: string, container: string): Promise<void>
  /** Kills the sandbox of a pod: the same UID gets new containers and a new address. */
  killSandbox(namespace: string, pod: string): Promise<void>
  /** Returns the last lines of a log: etcd, kube-apiserver, kube-controller-manager, kube-scheduler, containerd, kubelet. */
  log(daemon: string, lines?: number): Promise<string>
  /** Closes the connections. The cluster continues. */
  disconnect(): Promise<void>
  /** Ends the cluster without remains. Repeated calls are allowed. */
  stop(): Promise<void>
}

export type Who = { user: string } | { serviceAccount: { namespace: string; name: string } }

/** Users that exist from the start, without rights until a test binds some to them. */
const ordinaryUsers = ['sluice-runner', 'sluice-viewer', 'tester']

/** Starts a real Kubernetes in a few seconds. Clusters are isolated from each other: each may use the same addresses. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  await assertClusterSupport()
  const kubernetes = options.kubernetes ?? chosenVersion()
  const binaries = await ensureBinaries(kubernetes)
  await sweepClusters()

  const withNode = options.kubelet !== false
  const id = randomBytes(4).toString('hex')
  const info: ClusterInfo = {
    id,
    dir: join(clustersFolder(), id),
    owner: options.detached === true ? null : recordProcess('test', process.pid),
    init: null,
    apiPort: 0,
    kubernetes,
    tools: binaries.tools,
    identities: makeIdentities(options),
    nodeName: withNode ? `node-${id}` : null,
  }
  await writeInfo(info)
  try {
    const { init, apiPort } = await startInit(binaries.tools, info.dir)
    info.init = init
    info.apiPort = apiPort
    await writeInfo(info)

    await startApiServer(info, binaries.kubernetes, options)
    const containerd = withNode ? startContainerd(info, binaries.images) : Promise.resolve()
    containerd.catch(() => {}) // awaited below
    const cluster = connect(info)
    try {
      await waitForApi(info, cluster.api)
      await startControllers(info, binaries.kubernetes, options)
      await containerd
      if (withNode) {
        await startKubelet(info, binaries.kubernetes, options)
        await waitForNode(cluster)
      }
      await cluster.api.waitForObject('ServiceAccount', 'default', 'default', () => true, { intervalMs: 50 })
      return cluster
    } catch (error) {
      await cluster.disconnect()
      throw error
    }
  } catch (error) {
    if (process.env['SLUICE_CLUSTER_KEEP'] === undefined) await removeCluster(info)
    throw error
  }
}

/** Connects to a running cluster from another process, by its state file. */
export async function connectCluster(path: string): Promise<Cluster> {
  return connect(await readInfo(path))
}

function connect(info: ClusterInfo): Cluster {
  const api = connectApi(info)
  const forwards = new Set<Forward>()

  async function disconnect(): Promise<void> {
    await Promise.all([...forwards].map((forward) => forward.close()))
    await api.close()
  }

  async function containerIdOf(namespace: string, pod: string, container: string): Promise<string> {
    const { status } = await api.get('Pod', pod, namespace)
    const all = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])] as {
      name: string
      containerID?: string
    }[]
    const id = all.find((candidate) => candidate.name === container)?.containerID
    if (id === undefined) {
      throw new Error(`pod ${namespace}/${pod} has no running container ${container}`)
    }
    return id.replace('containerd://', '')
  }

  const controls = (name: string) => ({
    pause: () => signalDaemon(info, name, 'SIGSTOP'),
    resume: () => signalDaemon(info, name, 'SIGCONT'),
    restart: () => restartDaemon(info, name),
  })

  return {
    info,
    stateFile: stateFile(info.dir),
    kubeconfig: { host: hostKubeconfig(info), inside: insideKubeconfig(info) },
    api,
    exec(command, args, { scope = 'network', ...options } = {}) {
      return runCommand(...enter(info, scope, command, args), options)
    },
    spawn: (command, args, options) => spawnInside(info, command, args, options),
    async forward(address) {
      const forward = await startForward(info, address)
      forwards.add(forward)
      return forward
    },
    async kubeconfigFor(who, from = 'host') {
      const folder = join(info.dir, 'kubeconfigs')
      await mkdir(folder, { recursive: true })
      const name = 'user' in who ? who.user : `${who.serviceAccount.namespace}.${who.serviceAccount.name}`
      const token = 'user' in who ? undefined : await tokenOf(api, who.serviceAccount)
      const path = join(folder, `${name}.${from}.kubeconfig`)
      // The process of another test may be reading the present file.
      const unfinished = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
      await writeFile(unfinished, await kubeconfigText(info, name, from, token))
      await rename(unfinished, path)
      return path
    },
    audit: (filter) => readAudit(info, filter),
    async importImages(path) {
      await ctr(info, ['image', 'import', path])
    },
    kubelet: controls('kubelet'),
    apiServer: {
      async restart(awayMs) {
        await restartDaemon(info, 'kube-apiserver', awayMs)
        await waitForApi(info, api)
      },
    },
    controllerManager: controls('kube-controller-manager'),
    scheduler: controls('kube-scheduler'),
    async killContainer(namespace, pod, container) {
      await ctr(info, ['task', 'kill', '-s', 'SIGKILL', await containerIdOf(namespace, pod, container)])
    },
    async killSandbox(namespace, pod) {
      const { metadata } = await api.get('Pod', pod, namespace)
      const filter = `labels."io.kubernetes.pod.uid"==${metadata.uid},labels."io.cri-containerd.kind"==sandbox`
      const ids = (await ctr(info, ['container', 'list', '--quiet', filter])).trim().split('\n').filter(Boolean)
      const tasks = (await ctr(info, ['task', 'list'])).split('\n').filter((line) => line.includes('RUNNING'))
      const running = new Set(tasks.map((line) => line.split(/\s+/)[0]))
      const id = ids.find((candidate) => running.has(candidate))
      if (id === undefined) {
        throw new Error(`pod ${namespace}/${pod} has no running sandbox`)
      }
      await ctr(info, ['task', 'kill', '-s', 'SIGKILL', id])
    },
    log: (daemon, lines) => lastLines(info, daemon, lines),
    disconnect,
    async stop() {
      await disconnect()
      await removeCluster(info)
    },
  }
}

async function waitForNode(cluster: Cluster): Promise<void> {
  try {
    await cluster.api.waitForObject(
      'Node',
      cluster.info.nodeName ?? '',
      undefined,
      (node) => {
        const conditions = (node.status.conditions ?? []) as { type: string; status: string }[]
        const tainted = (node.spec.taints ?? []).length > 0
        return conditions.some(({ type, status }) => type === 'Ready' && status === 'True') && !tainted
      },
      { timeoutMs: 60_000 },
    )
  } catch (cause) {
    const logs = ['kubelet', 'kube-controller-manager'].map(async (name) => `${name}:\n${await cluster.log(name)}`)
    throw new Error(`the node did not become Ready\n${(await Promise.all(logs)).join('\n')}`, { cause })
  }
}

async function tokenOf(api: KubeApi, { namespace, name }: { namespace: string; name: string }): Promise<string> {
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3_600 } }
  const answer = await api.request('POST', `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`, request)
  return answer.status.token
}

function makeIdentities(options: ClusterOptions): Identity[] {
  const token = () => randomBytes(16).toString('hex')
  return [
    { user: 'admin', groups: ['system:masters'], token: token() },
    ...ordinaryUsers.map((user) => ({ user, groups: [], token: token() })),
    ...(options.identities ?? []).map(({ user, groups }) => ({ user, groups: groups ?? [], token: token() })),
  ]
}
