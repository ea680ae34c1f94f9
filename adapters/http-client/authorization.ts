/** The Authorization of every request. */
import type { z } from 'zod'
import { readSecret } from '../credentials/secret.ts'
import type { auth } from './connection-fields.ts'

/** `secrets` are what of it must not be seen in any message. */
export interface Header {
  name: string
  value: string
  secrets?: string[]
}

/** @throws SecretError where the secret cannot be had */
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
