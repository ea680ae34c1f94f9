/** Options that plugins in programs and in servers share. */
import { z } from 'zod'
import type { UnversionedDocument } from '../contract.ts'
import type { DefinedCapabilities } from '../define-adapter.ts'
import { duration, durationMs } from '../option-fields.ts'

export const pluginCapabilities = z
  .strictObject({
    inspect: z.enum(['strong', 'eventual']).default('strong').describe('Whether a list shows a change at once.'),
    inFlight: z.enum(['exact', 'requests-only', 'none']).default('none').describe('What inFlight of an entry counts.'),
    settle: duration.describe('From the answer of a drain until no new request arrives.'),
    volatileOnReload: z.boolean().default(true).describe('A restart of the load balancer forgets what was set.'),
    disruptsOthers: z.boolean().default(false).describe('Each change also cuts connections of other entries.'),
    wholeDocument: z
      .boolean()
      .default(false)
      .describe('A change replaces a whole document that has no version: two writers at once would lose one. It needs a `lock`.'),
    maxBatch: z.int().min(1).max(1_000).default(1).describe('Entries that one drain or restore takes.'),
  })
  .describe('What the plugin promises. sluice relies on it; `sluice/testing` tests it.')

export const settings = z.json().default(null).describe('Handed to the plugin as it is. No place for secrets.')

type PluginCapabilities = z.output<typeof pluginCapabilities>

/** The document without an identity, because only the plugin knows where its document is. */
export function documentOf({ wholeDocument }: PluginCapabilities): UnversionedDocument | undefined {
  return wholeDocument ? {} : undefined
}

/** The capabilities from the options. The guarantee is G1, because only the plugin could refuse a late call. */
export function capabilitiesOf({ settle, wholeDocument: _documentOf, ...said }: PluginCapabilities): DefinedCapabilities {
  return { ...said, settleMs: durationMs(settle) }
}
