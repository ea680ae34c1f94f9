import { expect, test } from 'vitest'
import { z } from 'zod'
import type { AdapterDefinition } from '../../adapters/contract.ts'
import { adapterNames, loadAdapter, presetNames } from '../../adapters/registry.ts'
import { configJsonSchema } from './json-schema.ts'

const stub: AdapterDefinition = {
  name: 'stub',
  summary: 'For tests.',
  options: z.strictObject({ socket: z.string() }) as z.ZodType<unknown>,
  create: () => {
    throw new Error('not for this test')
  },
}

test('the schema describes the file as it is written, with the options of each adapter', () => {
  const schema = configJsonSchema([stub]) as {
    required: string[]
    additionalProperties: boolean
    properties: Record<string, { properties: Record<string, object> }> & {
      loadBalancers: { items: { properties: { adapter: object }; allOf: object[] } }
    }
  }
  expect(schema.required).toEqual(['apiVersion', 'kind', 'loadBalancers'])
  expect(schema.additionalProperties).toBe(false)
  expect(schema.properties['drain']?.properties['deadline']).toMatchObject({
    type: 'string',
    default: '60s',
    pattern: expect.any(String),
  })
  const { items } = schema.properties.loadBalancers
  expect(items.properties.adapter).toMatchObject({ anyOf: [{ enum: ['stub'] }, { pattern: expect.any(String) }] })
  expect(items.allOf).toEqual([
    {
      if: { properties: { adapter: { const: 'stub' } }, required: ['adapter'] },
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: {
        properties: {
          options: {
            description: 'For tests.',
            type: 'object',
            properties: { socket: { type: 'string' } },
            required: ['socket'],
            additionalProperties: false,
          },
        },
        required: ['options'],
      },
    },
  ])
})

test('every adapter that can be configured has options that JSON Schema can say', async () => {
  const adapters = await Promise.all(adapterNames.map(loadAdapter))
  expect(JSON.stringify(configJsonSchema(adapters))).toContain('"const":"haproxy"')
})

test('a preset is an adapter, and a choice of the adapter http, with its parameters in both', async () => {
  const adapters = await Promise.all(adapterNames.map(loadAdapter))
  const schema = configJsonSchema(adapters) as unknown as { properties: { loadBalancers: { items: { allOf: Branch[] } } } }
  const optionsOf = (name: string): Options =>
    schema.properties.loadBalancers.items.allOf.find((branch) => branch.if.properties.adapter?.const === name)!.then.properties
      .options
  const { anyOf } = optionsOf('http')
  for (const name of presetNames) {
    const { properties, required } = optionsOf(name)
    const choice = anyOf!.find((one) => one.properties['preset']?.const === name)!
    expect(choice.properties).toEqual({ preset: { const: name }, ...properties })
    expect(choice.required).toEqual(['preset', ...required])
  }
  expect(anyOf!.at(-1)!.properties['preset']).toEqual({ type: 'string', pattern: String.raw`/|\.ya?ml$` })
})

interface Options {
  properties: Record<string, { const?: string }>
  required: string[]
  anyOf?: Options[]
}

interface Branch {
  if: { properties: { adapter?: { const?: string } } }
  then: { properties: { options: Options } }
}
