/**
 * The server of an admission webhook, a process in the network of the cluster: `node PROGRAM CERTIFICATE KEY`. It first prints its port.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'

interface ReviewedPod {
  spec: { containers: { image: string }[] }
}

export interface ReviewRequest {
  uid: string
  dryRun?: boolean
  object: ReviewedPod
  oldObject: ReviewedPod
}

/** The JSON patch operations. Empty where the pod is allowed as it is. */
type Verdict = readonly object[]

export async function serveReviews(verdictOn: (request: ReviewRequest) => Verdict | Promise<Verdict>): Promise<void> {
  const [certificate, key] = process.argv.slice(2)
  const server = createServer({ cert: readFileSync(certificate!), key: readFileSync(key!) }, async (request, response) => {
    let body = ''
    for await (const text of request.setEncoding('utf8')) body += String(text)
    const review = (JSON.parse(body) as { request: ReviewRequest }).request
    const operations = await verdictOn(review)
    const patch = { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(operations)).toString('base64') }
    response.setHeader('content-type', 'application/json').end(
      JSON.stringify({
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        response: { uid: review.uid, allowed: true, ...(operations.length > 0 && patch) },
      }),
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  console.log((server.address() as AddressInfo).port)
}
