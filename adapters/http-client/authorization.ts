/** The Authorization header of every request. */
import type { z } from 'zod'
import { readSecret } from '../credentials/secret.ts'
import type { auth } from './connection-fields.ts'

/** A header. No message may show its `secrets`. */
export interface Header {
  name: string
  value: string
  secrets?: string[]
}

/** @throws SecretError if the secret cannot be read */
export function authorization({ bearer, basic }: z.infer<typeof auth>): Header {
  const name = 'Authorization'
  if (bearer !== undefined) {
    const token = readSecret(bearer)
    return { name, value: `Bearer ${token}`, secrets: [token] }
  }
  const password = readSecret(basic!.password)
  const encoded = Buffer.from(`${basic!.username}:${password}`).toString('base64')
  return { name, value: `Basic ${encoded}`, secrets: [password, encoded] }
}
