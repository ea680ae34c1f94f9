/** A webhook that holds each change of a pod's images until a line comes on standard input. It prints `held` then. */
import { once } from 'node:events'
import { type ReviewRequest, serveReviews } from './webhook-server.ts'

const imagesOf = ({ spec }: ReviewRequest['object']): string => JSON.stringify(spec.containers.map(({ image }) => image))

const released = once(process.stdin, 'data')

await serveReviews(async ({ dryRun, object, oldObject }) => {
  if (dryRun !== true && imagesOf(object) !== imagesOf(oldObject)) {
    console.log('held')
    await released
  }
  return []
})
