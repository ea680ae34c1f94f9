/** A bed that the user provides: a module that starts the load balancer for each case. */
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { MakePartialBed } from '../../../adapters/conformance/bed.ts'
import { makeStartedBed, type StartedBedOptions, type StartedLoadBalancer } from '../../../adapters/conformance/beds/started.ts'
import type { Adapter } from '../../../adapters/contract.ts'
import { UsageError } from '../arguments/usage-error.ts'

const MEMBERS = ['apiUrl', 'requestUrl', 'state', 'drain', 'ready', 'close'] as const

/** @throws UsageError where the file is no module, or starts nothing */
export async function loadBed(file: string, create: (apiUrl: string) => Adapter): Promise<MakePartialBed> {
  const start = await loadStart(file)
  return ({ servers }) =>
    makeStartedBed({
      servers,
      create,
      async start(options) {
        let started: unknown
        try {
          started = await start(options)
        } catch (error) {
          throw new UsageError([`--bed ${file}: it does not start: ${error instanceof Error ? error.message : String(error)}`])
        }
        return checked(started, file)
      },
    })
}

async function loadStart(file: string): Promise<StartedBedOptions['start']> {
  let module: { default?: unknown }
  try {
    module = (await import(pathToFileURL(resolve(file)).href)) as { default?: unknown }
  } catch (error) {
    throw new UsageError([`--bed ${file} cannot be loaded: ${error instanceof Error ? error.message : String(error)}`])
  }
  if (typeof module.default !== 'function') throw new UsageError([`--bed ${file}: its default export is no function`])
  return module.default as StartedBedOptions['start']
}

function checked(started: unknown, file: string): StartedLoadBalancer {
  const missing = MEMBERS.filter((name) => (started as Record<string, unknown> | undefined)?.[name] === undefined)
  if (missing.length > 0) throw new UsageError([`--bed ${file}: what it starts has no ${missing.join(', ')}`])
  return started as StartedLoadBalancer
}
