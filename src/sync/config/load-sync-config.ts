import { dirname, resolve } from 'node:path'
import { check, type Finding, formatPath } from '../../config/check.ts'
import { ConfigError } from '../../config/config-error.ts'
import { type ConfigDocument, parseDocument } from '../../config/document.ts'
import { nearest } from '../../config/nearest.ts'
import { readConfigFile } from '../../config/read-config-file.ts'
import type { SyncedService, WhenAway } from '../model.ts'
import { syncConfigSchema, type SyncDocument } from './config-schema.ts'
import type { ClusterWay, SyncConfig } from './sync-config.ts'

const NEEDS = 'it needs apiVersion, kind, access, sources and services'
const CHOICE = 'name the config with --config FILE; without it, the file is ./sluice-sync.yaml'
const REPLACED_AFTER_MS = 600_000

/** Reads and checks the config of `sluice sync`. @throws ConfigError with all mistakes */
export async function loadSyncConfig(file: string): Promise<SyncConfig> {
  const document = parseDocument(file, await readConfigFile(file, { choice: CHOICE }), NEEDS)
  const shape = check(syncConfigSchema, document.value)
  const findings = shape.ok ? namesFindings(shape.value) : shape.findings
  if (!shape.ok || findings.length > 0) throw new ConfigError(file, issuesOf(findings, document))
  return configOf(shape.value, dirname(resolve(file)))
}

function configOf({ access, sources, services, defaults = {} }: SyncDocument, folder: string): SyncConfig {
  const names = sources.map(({ name }) => name)
  return {
    access: access === 'in-cluster' ? { is: 'in-cluster' } : wayOf(access, folder),
    sources: sources.map(({ name, ...way }) => ({ name, way: wayOf(way, folder) })),
    services: services.map(({ namespace, name, sources: own = names, ...settings }): SyncedService => ({
      namespace,
      name,
      sources: own,
      create: settings.create ?? defaults.create ?? false,
      away: awayOf(settings.whenAway ?? defaults.whenAway),
      replacedAfterMs: settings.replacedAfter ?? defaults.replacedAfter ?? REPLACED_AFTER_MS,
    })),
  }
}

/** A relative path begins at the folder of the config. */
function wayOf(
  { kubeconfig, context }: { kubeconfig?: string | undefined; context?: string | undefined },
  folder: string,
): ClusterWay {
  return {
    is: 'kubeconfig',
    ...(kubeconfig === undefined ? {} : { kubeconfig: resolve(folder, kubeconfig) }),
    ...(context === undefined ? {} : { context }),
  }
}

function awayOf(away: NonNullable<SyncDocument['defaults']>['whenAway']): WhenAway {
  if (away === undefined || away === 'keep') return { is: 'keep' }
  return { is: 'expire', afterMs: away.expireAfter, floor: away.floor }
}

/** Names that are given twice, and sources that nothing defines. */
function namesFindings({ sources, services }: SyncDocument): Finding[] {
  const known = sources.map(({ name }) => name)
  const value = (path: PropertyKey[], message: string, hint: string): Finding => ({ path, at: 'value', message, hint })
  return [
    ...repeated(known, (index) => ['sources', index, 'name'], 'give each source a name of its own'),
    ...repeated(
      services.map(({ namespace, name }) => `${namespace}/${name}`),
      (index) => ['services', index, 'name'],
      'name each Service once, with all its sources',
    ),
    ...services.flatMap(({ sources: own = [] }, index) => [
      ...repeated(own, (at) => ['services', index, 'sources', at], 'name each source once'),
      ...own.flatMap((name, at) => {
        if (known.includes(name)) return []
        const meant = nearest(name, known)
        const hint = meant === undefined ? `the sources are ${known.join(', ')}` : `did you mean "${meant}"?`
        return [value(['services', index, 'sources', at], `"${name}" is none of the sources`, hint)]
      }),
    ]),
  ]
}

function repeated(names: readonly string[], pathOf: (index: number) => PropertyKey[], hint: string): Finding[] {
  return names.flatMap((name, index) =>
    names.indexOf(name) === index
      ? []
      : [{ path: pathOf(index), at: 'value' as const, message: `"${name}" stands here a second time`, hint }],
  )
}

function issuesOf(findings: readonly Finding[], document: ConfigDocument): ConfigError['issues'] {
  return findings.map(({ path, at, message, hint }) => ({
    path: formatPath(path),
    message,
    ...(hint === undefined ? {} : { hint }),
    ...(at === 'key' ? document.keyPosition(path) : document.valuePosition(path)),
  }))
}
