/** Secrets: where they are, never what they are. They are read for each request, so that a rotated one is used at once. */
import { z } from 'zod'
import { readCredentialFile, whyUnreadable } from './credential-file.ts'

export const SECRET_WAY_OUT = 'write {file: PATH} or {env: NAME} in its place'

/** As a shell can set it. Most secrets are no such name: what is written here by mistake is seen before it is shown. */
const ENVIRONMENT_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/** The message where something else stands in the place of a secret's source: it may be the secret, and is not repeated. */
export function noSource({ input }: { input?: unknown }): string | undefined {
  return input === undefined || typeof input === 'object' ? undefined : `must not be written out\n${SECRET_WAY_OUT}`
}

export const secretSource = z
  .strictObject(
    {
      file: z.string().min(1).describe('A file that holds it. Line ends around it do not count.').optional(),
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

/** A name of a header, a query parameter or a field whose value is mostly a secret. An author is none, authorization is. */
export function looksSecret(name: string): boolean {
  return /auth(?!or(?!i[sz]))|token|secret|passw|credential|cookie|signature|(api|access|private)[-_]?key/i.test(name)
}

/** What is a secret under whatever name: the credentials of a known scheme. */
export function looksLikeCredentials(value: string): boolean {
  return /^\s*(?:bearer|basic|digest|token|apikey)\s+\S/i.test(value)
}

/** Why a secret cannot be had; never what is in it. */
export class SecretError extends Error {
  override readonly name = 'SecretError'
}

export function readSecret({ file, env }: SecretSource): string {
  const from = file === undefined ? `the environment variable ${env}` : `the file ${file}`
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
    throw new SecretError(`the file ${file} cannot be read: ${whyUnreadable(error)}`)
  }
}

const ENTITIES: Record<string, string> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' }

/** A secret as an answer may echo it: each character as it is, or as JSON, a URL or HTML write it. */
function echo(secret: string, flags: 'i' | 'gi'): RegExp {
  const characters = [...secret].map((character) => {
    const code = character.charCodeAt(0)
    const hex = code.toString(16)
    const entity = character in ENTITIES ? `|&${ENTITIES[character]};` : ''
    return `(?:\\\\?\\x${hex}|%${hex}|\\\\u00${hex}|&#0*${code};|&#x0*${hex};${entity})`
  })
  return new RegExp(characters.join(''), flags)
}

/** Blots secrets out of many texts: the patterns are made once. The longest first: another one may be a part of it. */
export function createBlotter(secrets: readonly string[]): (text: string) => string {
  const patterns = secrets.toSorted((a, b) => b.length - a.length).map((secret) => echo(secret, 'gi'))
  return (text) => patterns.reduce((shown, pattern) => shown.replaceAll(pattern, '***'), text)
}

/** A secret that is shorter may stand in a name by chance. */
const SHORTEST_ECHO = 6

/** Of the secrets that were sent: an answer may give one back, to be shown and kept with whatever is made of it. */
export interface Echoes {
  readonly secrets: string[]
  listenFor(secrets: readonly string[]): void
  in(text: string): boolean
}

export function createEchoes(): Echoes {
  /** Made once: a list has ten thousands of names. */
  const patterns = new Map<string, RegExp>()
  return {
    get secrets() {
      return [...patterns.keys()]
    },
    listenFor(secrets) {
      for (const secret of secrets) if (!patterns.has(secret)) patterns.set(secret, echo(secret, 'i'))
    },
    in: (text) => [...patterns].some(([{ length }, pattern]) => length >= SHORTEST_ECHO && pattern.test(text)),
  }
}
