import { imageOf, NAMESPACE, PORT } from './manifests.ts'
import type { Stage } from './stage.ts'

/** Adds a StatefulSet with one pod behind the same load balancer. */
export async function addStatefulSet(stage: Stage, name: string, container = 'app'): Promise<void> {
  const { server, balancers } = stage.world
  const labels = { app: name }
  const app = { name: container, image: imageOf('v1'), ports: [{ name: 'http', containerPort: PORT }] }
  const spec = { containers: [app], terminationGracePeriodSeconds: 5, restartPolicy: 'Always' }
  await stage.ask(
    stage.client.create(`/apis/apps/v1/namespaces/${NAMESPACE}/statefulsets`, {
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name, namespace: NAMESPACE, labels },
      spec: {
        replicas: 1,
        serviceName: name,
        podManagementPolicy: 'Parallel',
        updateStrategy: { type: 'OnDelete' },
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec },
      },
    }),
  )
  await stage.pass(10_000)
  const { status } = server.store.get('pods', NAMESPACE, `${name}-0`) as unknown as { status: { podIP: string } }
  balancers.get('edge')!.operator.add({ name: `${name}-0`, address: status.podIP, port: PORT, weight: 1, admin: 'ready' })
}
