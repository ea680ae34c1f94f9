import type { ControlPlane } from './control-plane.ts'
import { type Change, nodes, type Scene } from './scene.ts'

const AT_ONCE = 8

export async function makeNodes({ ask }: ControlPlane): Promise<void> {
  for (const node of nodes) await ask('POST', '/api/v1/nodes', node)
}

/** Runs a function for each item, with a limited number at once. */
export async function forEach<One>(some: readonly One[], run: (one: One) => Promise<void>): Promise<void> {
  const left = some.values()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const one of left) await run(one)
    }),
  )
}

/**
 * Makes the objects of a scene and changes them. It touches each Service at the end: the controllers sync no Service for a node, or for a
 * pod whose phase alone has changed.
 */
export async function play({ ask }: ControlPlane, { namespace, services, pods, changes }: Scene): Promise<void> {
  const at = (of: string, name = ''): string => `/api/v1/namespaces/${namespace}/${of}${name === '' ? '' : `/${name}`}`
  await ask('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
  for (const service of services) await ask('POST', at('services'), service)
  for (const { object, status } of pods) {
    await ask('POST', at('pods'), object)
    await ask('PATCH', `${at('pods', object.metadata.name)}/status`, { status })
  }
  const gone = new Set<string>()
  for (const change of changes) if (!gone.has(change.name)) await apply(change)
  for (const { metadata } of services) {
    await ask('PATCH', at('services', metadata.name), { metadata: { annotations: { touched: 'yes' } } })
  }

  async function apply(change: Change): Promise<void> {
    const path = at(change.of, change.name)
    if (!('remove' in change)) {
      const subresource = 'subresource' in change ? `/${change.subresource}` : ''
      await ask('PATCH', `${path}${subresource}`, change.patch)
      return
    }
    const left = await ask('DELETE', path)
    // A finished pod without finalizers is removed at once.
    if (left.metadata.deletionGracePeriodSeconds === 0 && left.metadata.finalizers === undefined) gone.add(change.name)
  }
}
