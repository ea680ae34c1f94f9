import { readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startCluster } from './cluster.ts'
import { startHaproxy } from './haproxy.ts'
import { chosenVersion, versionNamed } from './kubernetes-versions.ts'
import { namespace, service, statefulSet } from './manifests.ts'
import { trialCommands, trialConfig, trialKubeconfig } from './trial.ts'
import { waitForPods } from './workloads.ts'

// Starts a cluster for trials: `npm run cluster [-- --kubernetes 1.32]`. `npm run cluster:down` ends it.
const { values } = parseArgs({ options: { kubernetes: { type: 'string' } } })
const kubernetes = values.kubernetes === undefined ? chosenVersion() : versionNamed(values.kubernetes, '--kubernetes')
const cluster = await startCluster({ kubernetes, detached: true, nodeMonitorGracePeriodMs: 6_000 })
try {
  const { api } = cluster
  await api.apply(
    namespace('demo'),
    statefulSet({ name: 'web', namespace: 'demo', readyAfter: 3 }),
    service({ name: 'web', namespace: 'demo' }),
  )
  const pods = await waitForPods(api, 'demo', 'web', 3)
  const haproxy = await startHaproxy(cluster, {
    servers: pods.map((pod) => ({ name: pod.metadata.name, address: `${pod.status.podIP}:8080` })),
    detached: true,
  })
  const { init } = cluster.info
  const config = join(cluster.info.dir, 'sluice.yaml')
  await writeFile(config, trialConfig(haproxy.adminSocket))
  // The kubeconfig is a file of its own: tests on this cluster have theirs.
  const kubeconfig = join(cluster.info.dir, 'demo.kubeconfig')
  await writeFile(kubeconfig, trialKubeconfig(await readFile(cluster.kubeconfig.host, 'utf8'), 'demo'))
  const commands = trialCommands({
    kubeconfig,
    config,
    node: process.execPath,
    program: resolve(import.meta.dirname, '../../src/cli/sluice.ts'),
  })
  console.log(`Kubernetes ${kubernetes} runs in the background: StatefulSet web (3 pods, namespace demo) behind HAProxy.

  ${commands.join('\n  ')}
  kubectl -n demo get pods -o wide

The images are localhost/app:v1, :v2 and :v3; :bad is not there. Back and forth between them within ten minutes takes ever longer:
the kubelet holds back what ran in the same pod shortly before, 10 s the first time and up to five minutes, as CrashLoopBackOff.
The context of this kubeconfig has the namespace demo, so that -n demo may be left out.

HAProxy's socket (level admin), with backend "web" and servers web-0, web-1, web-2:
  ${haproxy.adminSocket}

Inside the cluster's network (pods, ${haproxy.url}):
  nsenter --net=/proc/${init?.pid}/ns/net curl -s ${haproxy.url}

Traffic, until Ctrl-C or the end of its stdin (so not with </dev/null), with a line of JSON a second:
  nsenter --net=/proc/${init?.pid}/ns/net ${cluster.info.tools}/traffic -url ${haproxy.url}

Run the tests on it:       SLUICE_CLUSTER=${cluster.stateFile} npm run test:cluster
Logs:                      ${cluster.info.dir}/logs
Take it down:              npm run cluster:down -- ${cluster.info.id}`)
  await cluster.disconnect()
} catch (error) {
  await cluster.stop()
  throw error
}
// The processes of HAProxy and the cluster would keep this process running.
process.exit(0)
