import { dirname, resolve } from 'node:path'
import type { AdapterDefinition } from '../../adapters/contract.ts'
import { adapterNames, loadAdapter } from '../../adapters/registry.ts'
import type { z } from 'zod'
import type { AdapterSource } from './adapter-source.ts'
import { check, type CheckOptions, formatPath, type Checked, type Finding } from './check.ts'
import { ConfigError, type ConfigIssue } from './config-error.ts'
import type { Config, ConfiguredLoadBalancer, ConfigSettings } from './config.ts'
import { parseDocument, type ConfigDocument } from './document.ts'
import { findPreset } from './find-preset.ts'
import { lockOf } from './lock-of.ts'
import { nearest } from './nearest.ts'
import { readConfigFile } from './read-config-file.ts'
import { configSchema } from './schema.ts'
import { isPlugin, loadPlugin } from '../../adapters/plugins/load-plugin.ts'
import { PluginError } from '../../adapters/plugins/plugin-error.ts'
import { settingsProblems } from './settings.ts'
import { FILE, PROGRAM, type Wording } from './wording.ts'

type ConfigFile = z.output<typeof configSchema>

/** The path of each setting in the file. */
const SETTING_PATHS: Record<keyof ConfigSettings, readonly string[]> = {
  maxUnavailable: ['rollout', 'maxUnavailable'],
  readyForMs: ['rollout', 'readyFor'],
  onFailure: ['rollout', 'onFailure'],
  drainDeadlineMs: ['drain', 'deadline'],
  onDrainDeadline: ['drain', 'onDeadline'],
  settleMs: ['drain', 'settle'],
  drainNotFor: ['drain', 'notFor'],
  restartDeadlineMs: ['deadlines', 'restart'],
  rollbackDeadlineMs: ['deadlines', 'rollback'],
  readyDeadlineMs: ['deadlines', 'ready'],
  restoreDeadlineMs: ['deadlines', 'restore'],
}

const BUILT_IN: AdapterSource = { adapterNames, loadAdapter }

/** Reads and checks a config file. Throws a ConfigError that lists every problem. `choice` says how to name another file. */
export async function loadConfig(
  file: string,
  adapters: AdapterSource = BUILT_IN,
  { choice }: { choice?: string } = {},
): Promise<Config> {
  const document = parseDocument(file, await readConfigFile(file, choice === undefined ? {} : { choice }))
  const folder = dirname(resolve(file))
  const checked = await checkDocument(document.value, adapters, folder, FILE)
  if (checked.ok) return { file, folder, ...checked.value }
  throw new ConfigError(
    file,
    checked.findings.map((finding) => issueOf(finding, document)),
  )
}

/** The file name that `configOf` uses. */
export const NO_FILE = 'config'

/** Checks a config that is given as a value, with the structure of a config file. */
export async function configOf(value: unknown, adapters: AdapterSource = BUILT_IN): Promise<Config> {
  const folder = process.cwd()
  const checked = await checkDocument(value, adapters, folder, PROGRAM)
  if (checked.ok) return { file: NO_FILE, folder, ...checked.value }
  throw new ConfigError(
    NO_FILE,
    checked.findings.map(({ path, message, hint }) => ({
      path: formatPath(path),
      message,
      ...(hint === undefined ? {} : { hint }),
      line: 0,
      column: 0,
    })),
  )
}

async function checkDocument(
  value: unknown,
  adapters: AdapterSource,
  folder: string,
  wording: Wording,
): Promise<Checked<Omit<Config, 'file' | 'folder'>>> {
  const shape = check(configSchema, value, { hintForUnknownKey, wording })
  const findings = shape.ok ? [] : shape.findings
  // Valid parts are checked further even if another part of the file has a problem.
  const loadBalancers = await checkLoadBalancers(value, { adapters, folder, wording }, findings)
  if (shape.ok) {
    const settings = settingsOf(shape.value)
    for (const { setting, message, hint } of settingsProblems(settings)) {
      findings.push({ path: [...SETTING_PATHS[setting]], at: 'value', message, hint })
    }
    const { order = [], notFor = [] } = shape.value.drain
    findings.push(...orderFindings(order, shape.value.loadBalancers), ...notForFindings(notFor))
    const inTurns = loadBalancers.map((one) => ({ ...one, drainTurn: turnOf(one.name, order), ...rateOf(one.name, shape.value) }))
    findings.push(...rateFindings(shape.value))
    if (findings.length === 0) return { ok: true, value: { loadBalancers: inTurns, settings } }
  }
  return { ok: false, findings }
}

function issueOf({ path, at, message, hint }: Finding, document: ConfigDocument): ConfigIssue {
  const position = at === 'key' ? document.keyPosition(path) : document.valuePosition(path)
  return { path: formatPath(path), message, ...(hint === undefined ? {} : { hint }), ...position }
}

/** The sections by their known keys, to suggest the right section for a misplaced key. */
const HOMES = new Map<string, string>(
  (['drain', 'rollout', 'deadlines'] as const).flatMap((section) =>
    Object.keys(configSchema.shape[section].def.innerType.shape).map((key) => [key, section] as const),
  ),
)

function hintForUnknownKey(key: string, path: readonly PropertyKey[]): string | undefined {
  const home = HOMES.get(key)
  if (home !== undefined) return `it belongs under ${home}`
  if (path[0] === 'loadBalancers' && path.length === 2) return "the adapter's own settings go under options"
  return undefined
}

/** The source of the adapters, and the folder that a plugin's path refers to. */
interface Source {
  adapters: AdapterSource
  folder: string
  wording: Wording
}

/** The checks that the schema of the whole file cannot make: names, adapters, and each adapter's own options. */
async function checkLoadBalancers(input: unknown, source: Source, findings: Finding[]): Promise<ConfiguredLoadBalancer[]> {
  const configured: ConfiguredLoadBalancer[] = []
  const entries = (input as { loadBalancers?: unknown } | null)?.loadBalancers
  if (!Array.isArray(entries)) return configured
  const firstOfName = new Map<string, number>()
  for (const [index, entry] of entries.entries()) {
    if (typeof entry !== 'object' || entry === null) continue
    const path = ['loadBalancers', index]
    const { name, adapter, port, options, lock } = entry as Record<string, unknown>
    if (typeof name === 'string') {
      const first = firstOfName.get(name)
      if (first === undefined) firstOfName.set(name, index)
      else findings.push(duplicateName(name, [...path, 'name'], first))
    }
    if (typeof adapter !== 'string' || adapter === '') continue
    const named = await findAdapter(adapter, [...path, 'adapter'], source, findings)
    // The schema of the file reports an `options` that is empty or no mapping.
    const isMapping = typeof options === 'object' && options !== null && !Array.isArray(options)
    if (named === undefined || (options !== undefined && !isMapping)) continue
    const { preset, ...given } = (options ?? {}) as Record<string, unknown>
    const hasPreset = adapter === 'http' && preset !== undefined
    const found = hasPreset ? await findPreset(preset, { ...source, path: [...path, 'options', 'preset'] }) : named
    if (Array.isArray(found)) {
      findings.push(...found)
      continue
    }
    const definition = found
    const inner = { prefix: [...path, 'options'], wording: source.wording }
    const checked = checkOptions(definition, hasPreset ? given : (options ?? {}), inner)
    if (!checked.ok) {
      findings.push(...checked.findings)
      continue
    }
    try {
      definition.prepare?.(checked.value, { name: String(name), folder: source.folder })
    } catch (error) {
      findings.push(cannotBeLoaded(adapter, [...path, 'adapter'], error))
      continue
    }
    const locked = lockOf(lock, { definition, options: checked.value, folder: source.folder })
    if ('problem' in locked) {
      findings.push({ path: [...path, ...locked.path], at: 'value', message: locked.problem, hint: locked.hint })
      continue
    }
    configured.push({
      name: String(name),
      // A preset has one name, by whichever way it is chosen.
      adapter: definition === named ? adapter : definition.name,
      definition,
      port: port as number | string,
      options: checked.value,
      drainTurn: 0,
      ...locked,
    })
  }
  return configured
}

/** The schema of a plugin may be any object with a method `safeParse`. */
function checkOptions({ name, options: schema }: AdapterDefinition, given: unknown, inner: CheckOptions): Checked<unknown> {
  try {
    return check(schema, given, inner)
  } catch (error) {
    const message = `cannot be checked: safeParse of adapter ${name} fails: ${messageOf(error)}`
    const hint = 'mend the adapter: its options are a schema of zod 4 that waits for nothing, such as z.strictObject({…})'
    return { ok: false, findings: [{ path: [...(inner.prefix ?? [])], at: 'value', message, hint }] }
  }
}

/** The rate of a load balancer. Without an account the rate belongs to the load balancer alone; its key differs from every account name. */
function rateOf(name: string, { loadBalancers }: ConfigFile): Pick<ConfiguredLoadBalancer, 'rate'> {
  const rate = loadBalancers.find((one) => one.name === name)?.rate
  if (rate === undefined) return {}
  const { calls, per, account } = rate
  return { rate: { calls, perMs: per, account: account === undefined ? `own ${name}` : `account ${account}` } }
}

/** The load balancers of one account must have one rate. */
function rateFindings({ loadBalancers }: ConfigFile): Finding[] {
  const first = new Map<string, { index: number; calls: number; per: number }>()
  return loadBalancers.flatMap(({ rate }, index): Finding[] => {
    if (rate?.account === undefined) return []
    const { account, calls, per } = rate
    const known = first.get(account)
    if (known === undefined) first.set(account, { index, calls, per })
    if (known === undefined || (known.calls === calls && known.per === per)) return []
    const message = `is another rate of account ${JSON.stringify(account)} than that of loadBalancers[${known.index}]`
    return [{ path: ['loadBalancers', index, 'rate'], at: 'value', message, hint: 'give both the same calls and per' }]
  })
}

function turnOf(name: string, order: readonly string[]): number {
  return order.includes(name) ? order.indexOf(name) : order.length
}

function orderFindings(order: readonly string[], loadBalancers: readonly { name: string }[]): Finding[] {
  const names = loadBalancers.map(({ name }) => name)
  return order.flatMap((name, index): Finding[] => {
    const path = ['drain', 'order', index]
    if (!names.includes(name)) {
      const meant = nearest(name, names)
      const hint = meant === undefined ? `names of loadBalancers: ${names.join(', ')}` : `did you mean "${meant}"?`
      return [{ path, at: 'value', message: `${JSON.stringify(name)} is no name of a load balancer`, hint }]
    }
    const message = `${JSON.stringify(name)} is named twice`
    return order.indexOf(name) < index ? [{ path, at: 'value', message, hint: 'name each load balancer once' }] : []
  })
}

/** The config does not tell which containers exist, because one config may serve several workloads. */
function notForFindings(notFor: readonly string[]): Finding[] {
  return notFor.flatMap((name, index): Finding[] => {
    const message = `${JSON.stringify(name)} is named twice`
    const path = ['drain', 'notFor', index]
    return notFor.indexOf(name) < index ? [{ path, at: 'value', message, hint: 'name each container once' }] : []
  })
}

function duplicateName(name: string, path: PropertyKey[], first: number): Finding {
  const message = `${JSON.stringify(name)} is the name of loadBalancers[${first}] too`
  return { path, at: 'value', message, hint: 'the journal of a pod tells load balancers apart by name: choose another one' }
}

async function findAdapter(
  name: string,
  path: PropertyKey[],
  { adapters, folder }: Source,
  findings: Finding[],
): Promise<AdapterDefinition | undefined> {
  if (!isPlugin(name) && !adapters.adapterNames.includes(name)) {
    const meant = nearest(name, adapters.adapterNames)
    const hint = meant === undefined ? `known adapters: ${adapters.adapterNames.join(', ')}` : `did you mean "${meant}"?`
    findings.push({ path, at: 'value', message: `${JSON.stringify(name)} is no known adapter`, hint })
    return undefined
  }
  try {
    return await (isPlugin(name) ? loadPlugin(name, folder) : adapters.loadAdapter(name))
  } catch (error) {
    findings.push(cannotBeLoaded(name, path, error))
    return undefined
  }
}

function cannotBeLoaded(name: string, path: PropertyKey[], error: unknown): Finding {
  const found = { path, at: 'value', message: `adapter ${name} cannot be loaded: ${messageOf(error)}` } as const
  const hint = error instanceof PluginError ? error.way : undefined
  return hint === undefined ? found : { ...found, hint }
}

/** The message of an error; a plugin may throw any value. */
function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function settingsOf({ drain, rollout, deadlines }: ConfigFile): ConfigSettings {
  return {
    maxUnavailable: rollout.maxUnavailable,
    readyForMs: rollout.readyFor,
    onFailure: rollout.onFailure,
    drainDeadlineMs: drain.deadline,
    onDrainDeadline: drain.onDeadline,
    ...(drain.settle === undefined ? {} : { settleMs: drain.settle }),
    ...(drain.notFor === undefined ? {} : { drainNotFor: drain.notFor }),
    restartDeadlineMs: deadlines.restart,
    rollbackDeadlineMs: deadlines.rollback,
    readyDeadlineMs: deadlines.ready,
    restoreDeadlineMs: deadlines.restore,
  }
}
