/** The schema of the options. Checks that a schema cannot express are in check-fields.ts. */
import { z } from 'zod'
import type { Json } from '../contract.ts'
import { duration } from '../option-fields.ts'
import { noSource, secretSource } from '../credentials/secret.ts'
import { auth, tls, url } from '../http-client/connection-fields.ts'
import { allowPlainHttp } from '../http-client/plain-http.ts'

const expression = (description: string) => z.string().min(1).describe(`CEL: ${description}`)

const headerValue = z.union(
  [
    z.string(),
    z
      .strictObject({ ...secretSource.shape, prefix: z.string().describe('Goes before it, such as "Key ".').optional() })
      .refine(({ file, env }) => (file === undefined) !== (env === undefined), 'needs either file or env'),
  ],
  { error: noSource },
)

export type HeaderValue = z.infer<typeof headerValue>

/** Headers that define the end of a message or the use of the connection. A wrong one would mix up the answers of different requests. */
const FRAMING = /^(connection|content-length|expect|keep-alive|te|trailer|transfer-encoding|upgrade)$/i

const headerName = z
  .string()
  .regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'is no name of a header')
  .refine((name) => !FRAMING.test(name), 'belongs to the connection\nremove it: sluice sets what is needed')

const headers = z
  .record(headerName, headerValue)
  .describe('By name: text with ${CEL} in it; or, for a secret, {file: PATH} or {env: NAME}.')

const body: z.ZodType<Json> = z
  .json()
  .describe('Sent as JSON. A string may have ${CEL} in it; one that is only that becomes the value.')

const request = {
  path: z
    .string()
    .regex(/^\//, 'must begin with /\nit is added to url')
    .describe('Added to url. Values of ${CEL} in it are encoded.'),
  headers: headers.optional(),
  body: body.optional(),
  expect: z
    .array(z.int().min(200).max(599))
    .min(1)
    .describe('The statuses that mean success. All from 200 to 299 unless told.')
    .optional(),
}

const reading = z.strictObject({ method: z.enum(['GET', 'POST']).default('GET'), ...request })
const when = expression('sent only where this is true; the first request of a list of which it is.')
const writing = z.strictObject({
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  ...request,
  url: z
    .string()
    .regex(/^https?:\/\/[^/?#@]+$/, 'is no http or https URL of a host\na path goes into path')
    .describe('Where this request goes in place of url, with ${CEL} for the host: the agent that has the entry, say.')
    .optional(),
  when: when.optional(),
})
const effect = z.union([writing, z.array(writing).min(1)])

export type WritingOptions = z.infer<typeof writing>
export type RequestOptions = z.infer<typeof reading> | WritingOptions

/** The requests of an effect. sluice sends the first one whose condition is true. */
export function requestsOf(one: WritingOptions | WritingOptions[]): WritingOptions[] {
  return Array.isArray(one) ? one : [one]
}

const settle = duration.describe('From the answer of a drain until no new request arrives. Default 0s.')

const targets = z
  .strictObject({
    request: reading.describe('Lists the entries. Without it, each pod is taken to have one.').optional(),
    each: expression('the list of entries in the answer (body, headers). Default: body.').optional(),
    id: expression('what the load balancer calls the entry (of entry); without a request, the pod’s (of endpoint).'),
    address: expression('host:port of the entry, as sluice knows the pod.').optional(),
    scope: expression('what of the load balancer is written one call at a time. Default: all of it.').optional(),
  })
  .describe('Which entry is which pod.')

const inspect = z
  .strictObject({
    request: reading.describe('Asks for one target; without it, the list of targets is asked for.').optional(),
    entry: expression('the entry in the answer to request (body, headers). Default: body.').optional(),
    also: z
      .record(z.string().regex(/^[A-Za-z_]\w*$/, 'is no name for CEL\nuse letters, digits and _'), reading)
      .describe('By name: what else is asked for, right after the entries; its answer is also.NAME.')
      .optional(),
    missing: z
      .literal('draining')
      .describe('For a load balancer whose drain takes the entry away: what the list does not have is drained.')
      .optional(),
    admin: expression('"in", "draining" (what your drain does) or "out" (what an operator does, and nobody else may end).'),
    routable: expression('false where it gets no requests although it is in rotation, by health checks.').optional(),
    weight: expression('its weight; 0 is out of rotation.').optional(),
    inFlight: expression('requests or connections under way; null where that is not known.').optional(),
    prior: expression('all that restore has to put back, and nothing that changes by itself.'),
  })
  .describe('What is read of a target. Without it, the load balancer is believed (guarantee G0).')

const capabilities = z
  .strictObject({
    idempotency: z
      .enum(['absolute-set', 'client-token', 'cas'])
      .default('absolute-set')
      .describe(
        'absolute-set: a repeated call sets the same state (G1). client-token: and an operation id is known again (G2). ' +
          'cas: and a call that rests on an older version is refused (G3).',
      ),
    inspect: z.enum(['strong', 'eventual']).default('strong').describe('Whether a read shows a write at once.'),
    inFlight: z
      .enum(['exact', 'requests-only'])
      .default('requests-only')
      .describe('What inspect.inFlight counts: all that is open, or requests only.'),
    settle: settle.default('0s'),
    longestJob: duration
      .describe(
        'The longest that a change takes which is answered with 202, until a read shows it. It is not sent again before. Too short: it ' +
          'is sent twice; too long: one that was lost is missed for so long. Default 30s.',
      )
      .optional(),
    volatileOnReload: z.boolean().default(false).describe('A restart forgets what was set.'),
    disruptsOthers: z.boolean().default(false).describe('A change also cuts traffic of other entries.'),
    wholeDocument: z
      .boolean()
      .default(false)
      .describe(
        'A change replaces a document that has more entries than the one that is changed. Without a version (`cas`) it needs a `lock`.',
      ),
  })
  .describe('What you know of this load balancer. sluice relies on it.')

const login = z
  .strictObject({
    request: writing.omit({ url: true, when: true }).describe('Begins a session. Its body may have ${secrets.NAME}.'),
    secrets: z.record(z.string().regex(/^[A-Za-z_]\w*$/), secretSource).describe('By name: what the request sends.'),
    token: expression('the token in the answer (body, headers).'),
    header: headerName.describe('Has the token, with every other request.'),
    prefix: z.string().describe('Goes before the token, such as "Bearer ".').optional(),
    lifetime: duration.describe('How long a token is good for. Another one is asked for before its end.'),
  })
  .describe('For an API that gives a token for a user and a password, in place of auth.')

const failover = z
  .strictObject({
    urls: z.array(url).describe('Where the others of the group are; url is the first that is asked.').optional(),
    request: reading.describe('Asks a unit for its part.'),
    active: expression('true where the unit that answers is the active one (body, headers).'),
  })
  .describe('For units of which one is active: that one is asked, and written.')

export const httpFields = z.strictObject({
  url: url.describe('Where the admin API is: what the path of each request is added to.'),
  auth: auth.optional(),
  login: login.optional(),
  failover: failover.optional(),
  headers: headers.optional(),
  tls: tls.optional(),
  allowPlainHttp,
  targets,
  inspect: inspect.optional(),
  drain: effect.describe(
    'Takes a target out; sent only where inspect says "in". A list: the first request whose when is true is sent.',
  ),
  restore: effect.describe('Puts back what inspect.prior was. A list: the first request whose when is true is sent.'),
  capabilities: capabilities.prefault({}),
})

export type HttpOptions = z.infer<typeof httpFields>
