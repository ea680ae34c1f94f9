import { z } from 'zod'
import type { ExplainRequest } from '../../explain/read/request.ts'
import { type OfCluster, parseNamespace } from './parse-choice.ts'
import { parsed } from './parsed.ts'
import { type ParsedSubject, parseSubject } from './subject.ts'

/** One object to explain. */
export interface ExplainedObject {
  /** `TYPE/NAME` as for kubectl: `pod/web-0`, `service/web`, `statefulset/web`, or another kind of workload. */
  object: string
  /** The namespace of the object. Default: that of the cluster handle. */
  namespace?: string
}

const Request = z.strictObject({
  object: z.string(),
  namespace: z.string().optional(),
} satisfies Record<keyof ExplainedObject, z.ZodType>)

/** Throws a RequestError that lists every problem. */
export function parseExplain(input: ExplainedObject, cluster: OfCluster): ExplainRequest {
  const subject = parsed(Request, input, (issues) => {
    const read = parseSubject(input.object, cluster.kinds)
    if (!read.ok) issues.push({ field: 'object', message: read.problem })
    return read
  })
  const { namespace: asked } = input
  const namespace = parseNamespace(asked === undefined ? {} : { namespace: asked }, cluster)
  const { type, object, name, ref } = subject as Extract<ParsedSubject, { ok: true }>
  return { namespace, about: { type, object, name, namespace }, ...(ref === undefined ? {} : { ref }) }
}
