import { z } from 'zod'
import { PROGRAM } from '../../config/wording.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { Cluster, ConnectOptions } from '../cluster.ts'
import type { ConfigOptions, SluiceOptions } from '../options.ts'
import { callback, hasMethods, member, signal } from './members.ts'

const name = z.string().min(1).optional()
const text = z.string().optional()

const CLIENT = { get: 1, create: 1, replace: 1, patch: 1, delete: 1, watch: 1 } satisfies Record<keyof KubeClient, 1>

const client = member<KubeClient>(
  (value) => hasMethods(value, Object.keys(CLIENT)),
  'a KubeClient',
  `it has the methods ${Object.keys(CLIENT).join(', ')}`,
)

/** The cluster handle; additional fields are allowed. */
export const cluster = member<object>(
  (value) => typeof value === 'object' && value !== null && 'client' in value,
  'a Cluster',
  "give what 'await connect()' gives",
).pipe(
  z.looseObject({
    client,
    namespace: z.string().min(1),
    kubeconfig: z.string().optional(),
    other: z.custom<Cluster['other']>((value) => typeof value === 'function').optional(),
    close: member((value) => typeof value === 'function', 'a function', 'give a function that closes the cluster'),
  } satisfies Record<keyof Cluster, z.ZodType>),
)

const CHECKED = "give what 'await loadConfig(file)' or 'await checkConfig(document)' gives"

function isConfig(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('settings' in value) || !('loadBalancers' in value)) return false
  const { settings, loadBalancers } = value
  const isSettings = typeof settings === 'object' && settings !== null
  return isSettings && Array.isArray(loadBalancers) && loadBalancers.every((one) => hasDefinition(one))
}

function hasDefinition(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'definition' in value && 'options' in value
}

/** A checked config, from whichever caller. */
export const checkedConfig = z.strictObject({ config: member(isConfig, 'a config that was checked', CHECKED) })

const config = member<SluiceOptions['config']>(
  (value) => typeof value === 'function' || isConfig(value),
  'a config that was checked',
  CHECKED,
).optional()

export const sluiceOptions = z.strictObject({
  cluster,
  config,
  kinds: member(
    (value) => hasMethods(value, ['kindOf', 'kindNamed', 'ofOwner']),
    'a set of kinds',
    "give 'createKinds([...KINDS.all, mine])', or leave it out",
  ).optional(),
  identity: name,
  by: name,
  watch: z.enum(['namespace', 'request']).optional(),
  onWarning: callback,
  clock: z.unknown().optional(),
  random: z.unknown().optional(),
} satisfies Record<keyof SluiceOptions, z.ZodType>)

export const connectOptions = z.strictObject({
  kubeconfig: text,
  context: text,
  cluster: text,
  user: text,
  namespace: text,
  as: text,
  asGroups: z.array(z.string()).optional(),
  asUid: text,
  requestTimeoutMs: z.int().min(1).optional(),
  userAgent: text,
  onWaiting: callback,
  pluginTerminal: z.unknown().optional(),
  clock: z.unknown().optional(),
  random: z.unknown().optional(),
  signal,
} satisfies Record<keyof ConnectOptions, z.ZodType>)

const definition = z.custom((value) => isDefinition(value), {
  error: ({ input }) => `${PROGRAM.show(input)} is no adapter\ngive what defineAdapter gives, or an AdapterDefinition`,
})

function isDefinition(value: unknown): boolean {
  if (!hasMethods(value, ['create'])) return false
  const { name: named, options } = value as { name?: unknown; options?: unknown }
  return typeof named === 'string' && named !== '' && hasMethods(options, ['safeParse'])
}

export const configOptions = z.strictObject({
  adapters: z.array(definition).optional(),
  signal,
} satisfies Record<keyof ConfigOptions, z.ZodType>)

export const configFile = z.strictObject({
  file: member((value) => typeof value === 'string', 'the path of a file', "give a path, such as 'sluice.yaml'"),
})
