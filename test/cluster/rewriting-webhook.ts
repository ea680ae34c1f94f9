/** A webhook that gives every container of a pod another registry, as mirrors of images do. */
import { serveReviews } from './webhook-server.ts'

await serveReviews(({ object }) =>
  object.spec.containers.map(({ image }, index) => ({
    op: 'replace',
    path: `/spec/containers/${index}/image`,
    value: image.replace(/^localhost\//, 'mirror.example/'),
  })),
)
