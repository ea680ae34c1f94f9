/** The content of one kubeconfig, by the types of Kubernetes (k8s.io/client-go/tools/clientcmd/api/v1). */
import { z } from 'zod'
import { ExecConfig } from './exec-config.ts'
import { decodeBase64 } from './go-yaml.ts'

/** A null value counts as absent, as in Go. */
const text = z
  .string()
  .nullish()
  .transform((value) => value || undefined)
const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false)
const texts = listOf(
  z
    .string()
    .nullable()
    .transform((value) => value ?? ''),
)
const bytes = z
  .string()
  .nullish()
  .transform((value, context) => {
    const decoded = decodeBase64(value ?? '')
    if (decoded === undefined) context.addIssue({ code: 'custom', message: 'it is no base64' })
    return decoded === undefined || decoded.length === 0 ? undefined : decoded
  })

function listOf<T extends z.ZodType>(entry: T) {
  return z
    .array(entry)
    .nullish()
    .transform((list) => list ?? [])
}

/** A null entry has no fields. */
function structure<T extends z.ZodRawShape>(shape: T) {
  return z.preprocess((value) => value ?? {}, z.object(shape))
}

const Cluster = structure({
  server: text,
  'tls-server-name': text,
  'insecure-skip-tls-verify': flag,
  'certificate-authority': text,
  'certificate-authority-data': bytes,
  'proxy-url': text,
  extensions: listOf(structure({ name: text, extension: z.unknown() })),
})
export type ClusterFields = z.infer<typeof Cluster>

const User = structure({
  'client-certificate': text,
  'client-certificate-data': bytes,
  'client-key': text,
  'client-key-data': bytes,
  token: text,
  tokenFile: text,
  as: text,
  'as-uid': text,
  'as-groups': texts,
  'as-user-extra': z
    .record(z.string(), texts)
    .nullish()
    .transform((extra) => extra ?? {}),
  username: text,
  password: text,
  'auth-provider': z
    .object({
      name: text,
      config: z
        .record(z.string(), z.string().nullable())
        .nullish()
        .transform((config) => config ?? {}),
    })
    .nullish()
    .transform((provider) => provider ?? undefined),
  exec: ExecConfig.nullish().transform((exec) => exec ?? undefined),
})
export type UserFields = z.infer<typeof User>

const Context = structure({ cluster: text, user: text, namespace: text })
export type ContextFields = z.infer<typeof Context>

const name = z
  .string()
  .nullish()
  .transform((value) => value ?? '')

export const KubeConfigDocument = structure({
  apiVersion: z.literal(['v1', '']).nullish(),
  kind: z.literal(['Config', '']).nullish(),
  clusters: listOf(structure({ name, cluster: Cluster })),
  users: listOf(structure({ name, user: User })),
  contexts: listOf(structure({ name, context: Context })),
  'current-context': text,
})
export type KubeConfigDocument = z.infer<typeof KubeConfigDocument>

/** A user without a field, as in `users: [{name: x}]`. */
export const noUser: UserFields = User.parse({})
