/**
 * An admission webhook that takes its time: what gives a pod other images is held, until a line comes on standard input. It says `held`
 * on standard output then. It runs as a process in the cluster's network: `node holding-webhook.ts PORT CERTIFICATE KEY`.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'

interface Pod {
  spec: { containers: { image: string }[] }
}

interface Review {
  request: { uid: string; dryRun?: boolean; object: Pod; oldObject: Pod }
}

const [port, certificate, key] = process.argv.slice(2)
const released = once(process.stdin, 'data')

const imagesOf = ({ spec }: Pod): string => JSON.stringify(spec.containers.map(({ image }) => image))

createServer({ cert: readFileSync(certificate!), key: readFileSync(key!) }, async (request, response) => {
  let body = ''
  for await (const text of request.setEncoding('utf8')) body += String(text)
  if (body === '') return response.end('ok')
  const { uid, dryRun, object, oldObject } = (JSON.parse(body) as Review).request
  if (dryRun !== true && imagesOf(object) !== imagesOf(oldObject)) {
    console.log('held')
    await released
  }
  response.setHeader('content-type', 'application/json')
  return response.end(
    JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, allowed: true } }),
  )
}).listen(Number(port), '127.0.0.1')
