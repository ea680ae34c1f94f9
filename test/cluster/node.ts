import { mkdir, readFile, readdir, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { nodeAddress } from './cluster-info.ts'
import type { ClusterInfo } from './cluster-info.ts'
import type { ControlPlaneOptions } from './control-plane.ts'
import { insideKubeconfig } from './control-plane.ts'
import { lastLines, startDaemon } from './daemon.ts'
import { waitFor } from './kube-api.ts'
import { enter } from './namespace.ts'
import { runCommand } from './run-command.ts'

const cniFolder = '/usr/lib/cni'

/** Starts the container runtime with the test images. It needs no API server. */
export async function startContainerd(info: ClusterInfo, images: string): Promise<void> {
  const dir = join(info.dir, 'containerd')
  await mkdir(join(info.dir, 'cni'), { recursive: true })
  await mkdir(dir, { recursive: true })
  await writeFile(join(info.dir, 'cni', '10-bridge.conflist'), JSON.stringify(networkConfig))
  await writeFile(join(dir, 'config.toml'), containerdConfig(info, dir))
  await startDaemon(info, 'containerd', 'containerd', ['--config', join(dir, 'config.toml')])
  try {
    await waitFor(
      'containerd',
      () => ctr(info, ['version']),
      () => true,
      { intervalMs: 50 },
    )
    await ctr(info, ['image', 'import', images])
  } catch (cause) {
    throw new Error(`containerd did not come up:\n${await lastLines(info, 'containerd')}`, { cause })
  }
}

export async function startKubelet(info: ClusterInfo, kubernetes: string, options: ControlPlaneOptions): Promise<void> {
  await makeCgroup(info)
  await mkdir(join(info.dir, 'kubelet'), { recursive: true })
  const config = join(info.dir, 'kubelet.json')
  await writeFile(config, JSON.stringify(kubeletConfig(info, options)))
  await startDaemon(info, 'kubelet', join(kubernetes, 'kubelet'), [
    '--config',
    config,
    '--kubeconfig',
    insideKubeconfig(info),
    '--root-dir',
    join(info.dir, 'kubelet'),
    '--hostname-override',
    info.nodeName ?? '',
    '--node-ip',
    nodeAddress,
  ])
}

/** Runs the client of containerd, in the namespace of containers that the kubelet uses. */
export async function ctr(info: ClusterInfo, args: string[]): Promise<string> {
  const [command, words] = enter(info, 'all', 'ctr', ['-a', join(info.dir, 'containerd.sock'), '-n', 'k8s.io', ...args])
  return (await runCommand(command, words)).stdout
}

/** Returns the cgroup for the pods of this cluster. A kubelet ends unknown processes below its root. */
export function cgroupName(info: ClusterInfo): string {
  return `sluice-${info.id}`
}

export async function makeCgroup(info: ClusterInfo): Promise<void> {
  for (const root of await cgroupRoots()) {
    await mkdir(join(root, cgroupName(info)), { recursive: true })
    // In version 1, a new cpuset is empty, and no process can enter it then.
    await inheritCpuset(root, cgroupName(info))
  }
}

export async function removeCgroup(info: ClusterInfo): Promise<void> {
  for (const root of await cgroupRoots()) {
    await removeTree(join(root, cgroupName(info)))
  }
}

async function inheritCpuset(root: string, name: string): Promise<void> {
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    const value = await readFile(join(root, file), 'utf8').catch(() => undefined)
    if (value !== undefined) {
      await writeFile(join(root, name, file), value).catch(() => {})
    }
  }
}

/** Returns every mounted hierarchy: one in version 2, and one for each controller in version 1. */
export async function cgroupRoots(): Promise<string[]> {
  const mounts = await readFile('/proc/self/mounts', 'utf8')
  return mounts
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, , type]) => type === 'cgroup' || type === 'cgroup2')
    .map(([, path]) => path!)
}

async function removeTree(path: string): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true }).catch(() => [])
  for (const entry of entries.filter((candidate) => candidate.isDirectory())) {
    await removeTree(join(path, entry.name))
  }
  for (let attempt = 0; attempt < 50; attempt++) {
    try {
      await rmdir(path)
      return
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT') return
      if (code !== 'EBUSY') throw error
      // The last process in the cgroup has ended, but is not quite gone.
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}

const networkConfig = {
  cniVersion: '0.4.0',
  name: 'pods',
  plugins: [
    {
      type: 'bridge',
      bridge: 'cni0',
      isGateway: true,
      ipMasq: false,
      ipam: { type: 'host-local', ranges: [[{ subnet: '10.244.0.0/24' }]], routes: [{ dst: '0.0.0.0/0' }] },
    },
  ],
}

function containerdConfig(info: ClusterInfo, dir: string): string {
  return `version = 2
root = "${dir}/root"
state = "${dir}/state"
# What this bed does not use, some of it slow to probe.
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs", "io.containerd.internal.v1.opt", "io.containerd.internal.v1.tracing"]
[grpc]
  address = "${join(info.dir, 'containerd.sock')}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  # Without CAP_SYS_RESOURCE runc cannot lower the score and dies of it.
  restrict_oom_score_adj = true
  disable_tcp_service = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${cniFolder}"
    conf_dir = "${join(info.dir, 'cni')}"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
`
}

function kubeletConfig(info: ClusterInfo, options: ControlPlaneOptions): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    containerRuntimeEndpoint: `unix://${join(info.dir, 'containerd.sock')}`,
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    failCgroupV1: false,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${cgroupName(info)}`,
    oomScoreAdj: 0,
    makeIPTablesUtilChains: false,
    enforceNodeAllocatable: [],
    localStorageCapacityIsolation: false,
    imageGCHighThresholdPercent: 100,
    evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    resolvConf: '',
    failSwapOn: false,
    podLogsDir: join(info.dir, 'pod-logs'),
    registryPullQPS: 0,
    eventRecordQPS: 0,
    maxPods: 250,
    // The controller manager must hear from a healthy node well within its grace period.
    ...(options.nodeMonitorGracePeriodMs === undefined ? {} : { nodeLeaseDurationSeconds: 4, nodeStatusUpdateFrequency: '1s' }),
  }
}
