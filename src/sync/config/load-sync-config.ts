import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { SyncConfig } from './sync-config.ts'
export async function loadSyncConfig(file: string): Promise<SyncConfig> {
  const d = parse(readFileSync(file, 'utf8')) as any
  return {
    access: { is: 'kubeconfig', kubeconfig: d.access.kubeconfig },
    sources: d.sources.map((s: any) => ({ name: s.name, way: { is: 'kubeconfig', kubeconfig: s.kubeconfig } })),
    services: d.services.map((s: any) => ({ namespace: s.namespace, name: s.name, sources: d.sources.map((x: any) => x.name), create: true, away: { then: 'keep' }, replacedAfterMs: 600_000 })),
  } as SyncConfig
}
