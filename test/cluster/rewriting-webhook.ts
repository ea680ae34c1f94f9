/**
 * An admission webhook that gives every container of a pod another registry, as mirrors of images do. It runs as a
 * process in the cluster's network: `node rewriting-webhook.ts PORT CERTIFICATE KEY`.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'

interface Review {
  request: { uid: string; object: { spec: { containers: { image: string }[] } } }
}

const [port, certificate, key] = process.argv.slice(2)

createServer({ cert: readFileSync(certificate!), key: readFileSync(key!) }, (request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', (text: string) => (body += text))
  request.on('end', () => {
    if (body === '') return response.end('ok')
    const { uid, object } = (JSON.parse(body) as Review).request
    const patch = object.spec.containers.map(({ image }, index) => ({
      op: 'replace',
      path: `/spec/containers/${index}/image`,
      value: image.replace(/^localhost\//, 'mirror.example/'),
    }))
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        response: {
          uid,
          allowed: true,
          patchType: 'JSONPatch',
          patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
        },
      }),
    )
  })
}).listen(Number(port), '127.0.0.1')
