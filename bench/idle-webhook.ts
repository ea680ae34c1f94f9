// A webhook that does nothing, as a process of its own: node bench/idle-webhook.ts CERT KEY. It prints its port.
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'

const [cert, key] = process.argv.slice(2).map((file) => readFileSync(file, 'utf8'))
const server = createServer({ cert: cert!, key: key! }, async (request, response) => {
  // A caller that has gone waits for no answer.
  const body = await request.toArray().catch(() => undefined)
  if (body === undefined) return
  const { uid } = (JSON.parse(body.join('')) as { request: { uid: string } }).request
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, allowed: true } }))
})
server.keepAliveTimeout = 90_000
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
process.stdin.resume().once('end', () => process.exit())
