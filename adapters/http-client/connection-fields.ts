/** Options for the connection to an HTTP API. */
import { z } from 'zod'
import { secretSource } from '../credentials/secret.ts'

export const auth = z
  .strictObject({
    bearer: secretSource.optional(),
    basic: z.strictObject({ username: z.string().regex(/^[^:]*$/, 'must not have a colon'), password: secretSource }).optional(),
  })
  .refine(({ bearer, basic }) => (bearer === undefined) !== (basic === undefined), 'needs either bearer or basic')
  .describe('The Authorization of every request.')

/** The reason why a text is not a valid base URL. */
export function urlProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol)) return 'is no http or https URL\nwrite it as https://HOST:PORT'
  // The message does not repeat the value, because it may contain a password.
  if (url.username !== '' || url.password !== '')
    return 'holds a user or a password\nuse auth, with a file or an environment variable'
  if (url.search !== '' || url.hash !== '') return 'has a query or a fragment\na query goes into the path of each request'
  return undefined
}

export const url = z
  .string()
  .refine((text) => urlProblem(text) === undefined, { error: ({ input }) => urlProblem(String(input)) ?? '' })

export const tls = z
  .strictObject({
    ca: z.string().min(1).describe('File: the certificates to trust, in place of the usual ones.').optional(),
    cert: z.string().min(1).describe('File: the certificate of this client.').optional(),
    key: z.string().min(1).describe('File: its key.').optional(),
  })
  .refine(({ cert, key }) => (cert === undefined) === (key === undefined), 'needs both cert and key, or neither')
  .describe('Files in PEM, for an https url.')
