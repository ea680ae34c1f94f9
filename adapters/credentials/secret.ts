/**
 * Sources of secrets. The config has the place of a secret, never its value. sluice reads the secret for each request, so that a rotated
 * secret works at once.
 */
import { resolve } from 'node:path'
import { z } from 'zod'
import { readCredentialFile, whyUnreadable } from './credential-file.ts'

export const SECRET_WAY_OUT = 'write {file: PATH} or {env: NAME} in its place'

/** The name of an environment variable. Most secrets do not match it, so a secret in this place is detected before it is shown. */
const ENVIRONMENT_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** The message for a value that is not a source. It does not repeat the value, because the value may be the secret. */
export function noSource({ input }: { input?: unknown }): string | undefined {
  return input === undefined || typeof input === 'object' ? undefined : `must not be written out\n${SECRET_WAY_OUT}`
}

export const secretSource = z
  .strictObject(
    {
      file: z
        .string()
        .min(1)
        .describe('A file that holds it: an absolute path, or one from the working directory. Line ends around it do not count.')
        .optional(),
      env: z
        .string()
        .regex(
          ENVIRONMENT_NAME,
          'is no name of an environment variable\nwrite its name, not what it holds: letters, digits and _',
        )
        .describe('The environment variable that holds it.')
        .optional(),
    },
    { error: noSource },
  )
  .refine(({ file, env }) => (file === undefined) !== (env === undefined), 'needs either file or env')
  .describe('A secret: from a file, or from the environment.')

export type SecretSource = z.infer<typeof secretSource>

/**
 * True for the name of a header, a query parameter or a field whose value is usually a secret, such as `authorization`. `author` is not
 * one.
 */
export function looksSecret(name: string): boolean {
  return /auth(?!or(?!i[sz]))|token|secret|passw|credential|cookie|signature|(api|access|private)[-_]?key/i.test(name)
}

/** True for a value that is a secret under any name: credentials of a known scheme. */
export function looksLikeCredentials(value: string): boolean {
  return /^\s*(?:bearer|basic|digest|token|apikey)\s+\S/i.test(value)
}

/** The reason why a secret cannot be read. It never contains the secret. */
export class SecretError extends Error {
  override readonly name = 'SecretError'
}

export function readSecret({ file, env }: SecretSource): string {
  const from = file === undefined ? `the environment variable ${env}` : `the file ${resolve(file)}`
  const value = (file === undefined ? process.env[env!] : readSecretFile(file))?.trim()
  if (value === undefined) throw new SecretError(`${from} is not set`)
  if (value === '') throw new SecretError(`${from} is empty`)
  if (!/^[\x20-\x7e]+$/.test(value)) throw new SecretError(`${from} holds characters that cannot stand in a header`)
  return value
}

function readSecretFile(file: string): string {
  try {
    return readCredentialFile(file).toString()
  } catch (error) {
    throw new SecretError(`the file ${resolve(file)} cannot be read: ${whyUnreadable(error)}`)
  }
}
