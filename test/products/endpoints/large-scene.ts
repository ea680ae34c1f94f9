import type { ControlPlane } from './control-plane.ts'
import { forEach } from './play.ts'

const PODS = 1_005
const NOT_READY = 10

export const LARGE = 'large-1'

/**
 * Makes more pods than Endpoints can hold, some of them not ready, and a port with one of two numbers. The Service comes last, so that the
 * controllers sync once.
 */
export async function largeScene({ ask }: ControlPlane): Promise<void> {
  const at = `/api/v1/namespaces/${LARGE}`
  await ask('POST', '/api/v1/namespaces', { metadata: { name: LARGE } })
  const indexes = Array.from({ length: PODS }, (_, index) => index)
  await forEach(indexes, async (index) => {
    const name = `pod-${index}`
    const containerPort = index % 3 === 0 ? 9090 : 8080
    const spec = { nodeName: 'node-b', containers: [{ name: 'app', image: 'app:v1', ports: [{ name: 'http', containerPort }] }] }
    await ask('POST', `${at}/pods`, { metadata: { name, labels: { app: 'a' } }, spec })
    const ip = `10.4.${Math.floor(index / 250)}.${(index % 250) + 1}`
    const conditions = [{ type: 'Ready', status: index % Math.floor(PODS / NOT_READY) === 0 ? 'False' : 'True' }]
    await ask('PATCH', `${at}/pods/${name}/status`, { status: { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions } })
  })
  const ports = [
    { name: 'web', port: 80, targetPort: 8080 },
    { name: 'admin', port: 81, targetPort: 9001 },
  ]
  await ask('POST', `${at}/services`, { metadata: { name: 'large' }, spec: { selector: { app: 'a' }, ports } })
}
