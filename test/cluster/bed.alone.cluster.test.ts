import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fetch } from 'undici'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { connectCluster, startCluster } from './cluster.ts'
import type { Cluster } from './cluster.ts'
import { readInfo } from './cluster-info.ts'
import { askHaproxy } from './haproxy-socket.ts'
import { startHaproxy } from './haproxy.ts'
import type { Haproxy } from './haproxy.ts'
import type { KubeObject } from './kube-api.ts'
import { KubeApiError, connectApi } from './kube-api.ts'
import { daemonSet, namespace, pod, service, statefulSet } from './manifests.ts'
import { cgroupName, cgroupRoots } from './node.ts'
import { describeOnCluster } from './shared-cluster.ts'
import { sweepClusters } from './sweep.ts'
import { startTraffic } from './traffic.ts'
import { isReady, removeNamespace, waitForPods } from './workloads.ts'

const ns = 'bed'

describeOnCluster('the test bed', (cluster) => {
  let pods: KubeObject[]
  let haproxy: Haproxy

  beforeAll(async () => {
    const { api } = cluster()
    await api.apply(
      namespace(ns),
      statefulSet({ name: 'web', namespace: ns, readyAfter: 0.5 }),
      service({ name: 'web', namespace: ns }),
    )
    pods = await waitForPods(api, ns, 'web', 3)
    haproxy = await startHaproxy(cluster(), {
      servers: pods.map(({ metadata, status }) => ({ name: metadata.name, address: `${status.podIP}:8080` })),
    })
  })

  afterAll(async () => {
    await haproxy.stop()
    await removeNamespace(cluster().api, ns)
  })

  afterEach(() => haproxy.recorder.setFaults({}))

  it('loses no request while nothing happens, at the rate that was asked for', async () => {
    const traffic = await startTraffic(cluster(), { url: haproxy.url })
    await sleep(3_000)
    const totals = await traffic.stop()
    expect(totals.byKind).toEqual({})
    expect(totals.requests).toBeGreaterThan(500)
    expect(Object.keys(totals.byPod).sort()).toEqual(['web-0', 'web-1', 'web-2'])
  })

  it('counts failures when a pod is killed without a drain', async () => {
    const traffic = await startTraffic(cluster(), { url: haproxy.url })
    await sleep(500)
    await cluster().killContainer(ns, 'web-1', 'app')
    await sleep(2_000)
    const totals = await traffic.stop()
    expect(totals.failed).toBeGreaterThan(0)
    expect(totals.failures.length).toBe(totals.failed)
    await waitForPods(cluster().api, ns, 'web', 3)
  })

  it('loses no request when the pod was drained first, and records what was done', async () => {
    const { recorder } = haproxy
    const before = recorder.effects().length
    const traffic = await startTraffic(cluster(), { url: haproxy.url })
    await sleep(500)
    await askHaproxy(recorder.socket, 'set server web/web-2 state drain')
    await askHaproxy(recorder.socket, 'set server web/web-2 state drain')
    await sleep(1_000)
    await cluster().killContainer(ns, 'web-2', 'app')
    await cluster().api.waitForObject('Pod', 'web-2', ns, (object) => !isReady(object))
    await waitForPods(cluster().api, ns, 'web', 3)
    await askHaproxy(recorder.socket, 'set server web/web-2 state ready')
    await sleep(500)
    const totals = await traffic.stop()
    expect(totals.byKind).toEqual({})
    expect(
      recorder
        .effects()
        .slice(before)
        .map(({ server, kind, effective }) => ({ server, kind, effective })),
    ).toEqual([
      { server: 'web-2', kind: 'drain', effective: true },
      { server: 'web-2', kind: 'drain', effective: false },
      { server: 'web-2', kind: 'ready', effective: true },
    ])
  })

  it('can lose, delay and leave unanswered what goes to HAProxy', async () => {
    const { recorder } = haproxy
    const adminState = async () => (await haproxy.states()).find(({ server }) => server === 'web-2')?.adminState
    const drain = 'set server web/web-2 state drain'
    const ready = 'set server web/web-2 state ready'

    await recorder.setFaults({ loseCommand: (line) => line === drain })
    expect(await askHaproxy(recorder.socket, drain).catch(() => 'lost')).toMatch(/^(lost|)$/)
    expect(await adminState()).toBe(0)

    await recorder.setFaults({ dropReply: () => true })
    expect(await askHaproxy(recorder.socket, drain).catch(() => 'lost')).toMatch(/^(lost|)$/)
    expect(await adminState()).toBe(8)

    await recorder.setFaults({ hangReply: () => true })
    await expect(askHaproxy(recorder.socket, ready, 300)).rejects.toThrow('no answer')
    expect(await adminState()).toBe(0)

    await recorder.setFaults({ delayMs: () => 500 })
    await expect(askHaproxy(recorder.socket, drain, 100)).rejects.toThrow('no answer')
    expect(await adminState()).toBe(0)
    await expect.poll(adminState).toBe(8) // it came late, after its sender had given up

    await recorder.setFaults({ cut: true })
    expect(await askHaproxy(recorder.socket, ready).catch(() => 'lost')).toMatch(/^(lost|)$/)
    await recorder.setFaults({})
    await askHaproxy(recorder.socket, ready)
    expect(await adminState()).toBe(0)
  })

  it('takes several commands on one connection, and connections over TCP', async () => {
    const { recorder } = haproxy
    const [host, port] = recorder.tcpAddress.split(':')
    for (const target of [{ path: recorder.socket }, { host: host!, port: Number(port) }]) {
      const socket = connect(target)
      socket.setEncoding('utf8')
      const sent = recorder.commands().length
      for (const line of ['prompt', 'set server web/web-0 weight 3', 'set server web/web-0 weight 1']) {
        socket.write(`${line}\n`)
        await once(socket, 'data', { signal: AbortSignal.timeout(5_000) })
      }
      socket.end('quit\n')
      await once(socket, 'close', { signal: AbortSignal.timeout(5_000) })
      const commands = recorder.commands().slice(sent)
      expect(commands.map(({ line }) => line)).toEqual([
        'prompt',
        'set server web/web-0 weight 3',
        'set server web/web-0 weight 1',
        'quit',
      ])
      expect(recorder.effects().slice(-2)).toMatchObject([
        { kind: 'weight', effective: true, before: { weight: 1 }, after: { weight: 3 } },
        { kind: 'weight', effective: true, before: { weight: 3 }, after: { weight: 1 } },
      ])
    }
  })

  it('reloads and restarts HAProxy, with the state kept only when asked for', async () => {
    const servers = [{ name: 'web-0', address: `${pods[0].status.podIP}:8080` }]
    for (const keepState of [false, true]) {
      const own = await startHaproxy(cluster(), { servers, keepState })
      await own.ask('set server web/web-0 state drain')
      await own.reload()
      expect((await own.states())[0]?.adminState).toBe(keepState ? 8 : 0)
      await own.restart()
      expect((await own.states())[0]?.adminState).toBe(keepState ? 8 : 0)
      await own.kill()
      await expect(askHaproxy(own.recorder.socket, 'show info')).rejects.toThrow(/ENOENT|ECONNREFUSED/)
      await own.stop()
    }
  })

  it('gives a pod whose sandbox died a new address under the same UID', async () => {
    const { api } = cluster()
    await api.apply(pod({ name: 'alone', namespace: ns }))
    const [before] = await waitForPods(api, ns, 'alone', 1)
    await cluster().killSandbox(ns, 'alone')
    const after = await api.waitForObject(
      'Pod',
      'alone',
      ns,
      (object) => isReady(object) && object.status.podIP !== before.status.podIP && object,
    )
    expect(after.metadata.uid).toBe(before.metadata.uid)
  })

  it('runs a DaemonSet with a sidecar and a pod in the host network', async () => {
    const { api } = cluster()
    await api.apply(
      daemonSet({ name: 'agent', namespace: ns, sidecar: 'localhost/sidecar:v1' }),
      pod({ name: 'host', namespace: ns, hostNetwork: true, port: 9090 }),
    )
    const [agent] = await waitForPods(api, ns, 'agent', 1)
    const [host] = await waitForPods(api, ns, 'host', 1)
    expect(agent.status.containerStatuses.map(({ name }: { name: string }) => name)).toEqual(['app', 'sidecar'])
    const forward = await cluster().forward(`${host.status.podIP}:9090`)
    expect(await (await fetch(`http://${forward.address}/`, { method: 'POST', body: 'x' })).text()).toBe('v1 host\n')
    await forward.close()
  })

  it('makes the node go silent and come back', async () => {
    const { api, kubelet } = cluster()
    await kubelet.pause()
    try {
      const late = await api.waitForObject('Pod', 'web-0', ns, (object) => !isReady(object) && object, { timeoutMs: 20_000 })
      // Only the node is silent: the container is reported as before.
      expect(late.status.containerStatuses[0].ready).toBe(true)
    } finally {
      await kubelet.resume()
    }
    await waitForPods(api, ns, 'web', 3)
  })

  it('survives restarts of the kubelet and the API server', async () => {
    const { api } = cluster()
    const before = await api.get('Pod', 'web-0', ns)
    await cluster().kubelet.restart()
    await cluster().apiServer.restart()
    await waitForPods(api, ns, 'web', 3)
    const after = await api.get('Pod', 'web-0', ns)
    expect(after.status.containerStatuses[0].containerID).toBe(before.status.containerStatuses[0].containerID)
  })

  it('knows users without rights, and shows in the audit log what each one did', async () => {
    const { api } = cluster()
    const since = Date.now()
    const kubectl = async (kubeconfig: string) => {
      const { users, clusters } = JSON.parse(readFileSync(kubeconfig, 'utf8'))
      const runner = connectApi({
        ...cluster().info,
        apiPort: Number(new URL(clusters[0].cluster.server).port),
        identities: [{ user: 'admin', groups: [], token: users[0].user.token }],
      })
      return runner.list('Pod', ns).finally(() => runner.close())
    }
    const runner = await cluster().kubeconfigFor({ user: 'sluice-runner' })
    await expect(kubectl(runner)).rejects.toThrow(KubeApiError)
    const account = await cluster().kubeconfigFor({ serviceAccount: { namespace: ns, name: 'default' } })
    await expect(kubectl(account)).rejects.toThrow(/403/)
    const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }]
    const binding = { name: 'reader', namespace: ns }
    await api.apply(
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', metadata: binding, rules },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: binding,
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'sluice-runner' }],
      },
    )
    await expect.poll(() => kubectl(runner).then((list) => list.length)).toBeGreaterThan(0)
    const events = await cluster().audit({ user: 'sluice-runner', verb: 'list', resource: 'pods', since })
    expect(events[0]?.responseStatus?.code).toBe(403)
    expect(events.at(-1)?.responseStatus?.code).toBe(200)
  })
})

describeOnCluster('the end of a cluster', () => {
  it('leaves nothing, and clusters do not see each other', async () => {
    const [first, second] = await Promise.all([startCluster(), startCluster({ kubelet: false })])
    await first.api.apply(pod({ name: 'alone' }))
    await waitForPods(first.api, 'default', 'alone', 1)
    expect(await second.api.list('Pod')).toEqual([])
    const haproxy = await startHaproxy(first, { servers: [] })
    await haproxy.recorder.close()
    const remains = remainsOf(first)
    expect(remains()).not.toEqual([])
    await Promise.all([first.stop(), second.stop()])
    await first.stop() // once more does no harm
    expect(remains()).toEqual([])
    expect(remainsOf(second)()).toEqual([])
    for (const root of await cgroupRoots()) {
      expect(existsSync(join(root, cgroupName(first.info)))).toBe(false)
    }
  })

  it('clears away a cluster whose process was killed', async () => {
    const script = `
      const { startCluster } = await import(${JSON.stringify(join(import.meta.dirname, 'cluster.ts'))})
      const cluster = await startCluster({ kubelet: false })
      await cluster.spawn('sleep', ['600'])
      console.log(cluster.stateFile)
      setInterval(() => {}, 1000)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const info = await readInfo(line.toString().trim())
    const orphan = await connectCluster(info.dir)
    const remains = remainsOf(orphan)
    await orphan.disconnect()
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(remains()).not.toEqual([])
    expect((await sweepClusters()).map(({ id }) => id)).toContain(info.id)
    expect(remains()).toEqual([])
  })
})

/** Looks for remains of a cluster: processes in its network, mounts and files of its folder, networks of pods. */
function remainsOf({ info }: Cluster): () => string[] {
  const networkOf = (pid: string | number) => {
    try {
      return readlinkSync(`/proc/${pid}/ns/net`)
    } catch {
      return undefined
    }
  }
  const network = info.init === null ? undefined : networkOf(info.init.pid)
  const podNetworks = new Set(existsSync('/run/netns') ? readdirSync('/run/netns') : [])
  return () => {
    const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    const commandOf = (pid: string) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      } catch {
        return ''
      }
    }
    return [
      ...pids.filter((pid) => (network !== undefined && networkOf(pid) === network) || commandOf(pid).includes(info.dir)),
      ...readFileSync('/proc/self/mounts', 'utf8')
        .split('\n')
        .filter((line) => line.includes(info.dir)),
      ...(existsSync(info.dir) ? [info.dir] : []),
      ...(existsSync('/run/netns') ? readdirSync('/run/netns').filter((name) => !podNetworks.has(name)) : []),
    ]
  }
}
