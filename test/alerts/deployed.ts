/** What deploy/ holds for Prometheus and Grafana. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'

const DEPLOY = resolve(import.meta.dirname, '../../deploy')
export const ALERTS = join(DEPLOY, 'alerts')

export interface Rule {
  /** Of the folder, such as `nodes.yaml`. */
  file: string
  alert?: string
  record?: string
  expr: string
  for?: string
  labels?: Record<string, string>
  annotations?: Record<string, string>
}

export function ruleFiles(): string[] {
  return readdirSync(ALERTS).filter((name) => name.endsWith('.yaml'))
}

export function rules(): Rule[] {
  return ruleFiles().flatMap((file) => {
    const { groups } = parse(readFileSync(join(ALERTS, file), 'utf8')) as { groups: { rules: Omit<Rule, 'file'>[] }[] }
    return groups.flatMap((group) => group.rules.map((rule) => ({ file, ...rule })))
  })
}

export interface Panel {
  title: string
  type: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets?: { expr: string; legendFormat: string }[]
}

export interface Dashboard {
  panels: Panel[]
  templating: { list: { name: string; definition?: string }[] }
}

export function dashboard(): Dashboard {
  return JSON.parse(readFileSync(join(DEPLOY, 'grafana/sluice.json'), 'utf8')) as Dashboard
}
