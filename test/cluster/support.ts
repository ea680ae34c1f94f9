import { accessSync, constants, existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { runCommand } from './run-command.ts'

export type ClusterSupport = { available: true } | { available: false; missing: string[] }

const programs: Record<string, string> = {
  go: 'Go, 1.25 or newer',
  containerd: 'Debian package containerd',
  ctr: 'Debian package containerd',
  runc: 'Debian package runc',
  haproxy: 'Debian package haproxy',
  ip: 'Debian package iproute2',
  iptables: 'Debian package iptables',
  nsenter: 'Debian package util-linux',
  unshare: 'Debian package util-linux',
}

const plugins = ['bridge', 'host-local', 'loopback']

let known: Promise<ClusterSupport> | undefined

/** Reports whether a test cluster can run here. The missing requirements are in words, for the reader of skipped tests. */
export function clusterSupport(): Promise<ClusterSupport> {
  known ??= probe()
  return known
}

export async function assertClusterSupport(): Promise<void> {
  const support = await clusterSupport()
  if (!support.available) {
    throw new Error(`a test cluster cannot run here: ${support.missing.join('; ')}`)
  }
}

async function probe(): Promise<ClusterSupport> {
  const missing: string[] = []
  if (process.platform !== 'linux') {
    return { available: false, missing: [`Linux (this is ${process.platform})`] }
  }
  if (process.getuid?.() !== 0) {
    missing.push('root')
  }
  for (const [program, hint] of Object.entries(programs)) {
    if (!onPath(program)) missing.push(`${program} (${hint})`)
  }
  for (const plugin of plugins) {
    if (!existsSync(join('/usr/lib/cni', plugin)))
      missing.push(`CNI plugin ${plugin} (Debian package containernetworking-plugins)`)
  }
  if (missing.length === 0) {
    const attempt = await runCommand(
      'unshare',
      ['--net', '--mount', '--pid', '--fork', 'ip', 'link', 'add', 'probe0', 'type', 'bridge'],
      { allowFailure: true, timeoutMs: 5_000 },
    )
    if (attempt.code !== 0) missing.push(`namespaces of its own with a bridge device (${attempt.stderr.trim()})`)
  }
  return missing.length === 0 ? { available: true } : { available: false, missing }
}

export function onPath(program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
