import type { Journal, JournalTarget } from '../../pods/glossary.ts'

const DIGEST_OLD = 'a1'.repeat(32)
const DIGEST_NEW = 'b2'.repeat(32)

export function testTarget(overrides: Partial<JournalTarget> = {}): JournalTarget {
  return {
    loadBalancer: 'edge',
    target: 'pool/web-0',
    scope: 'pool',
    prior: { state: 'ready', weight: 1 },
    untouched: false,
    ...overrides,
  }
}

/** A journal of usual size: two containers by digest, two load balancers. */
export const realisticJournal: Journal = {
  run: 'k3m9x7p2qa',
  epoch: 12,
  attempt: 1,
  step: 'patched',
  generation: 7,
  baseline: ['app', 'proxy'].map((name) => ({
    name,
    image: `registry.example.com/team/${name}@sha256:${DIGEST_OLD}`,
    containerId: `containerd://${DIGEST_NEW}`,
    imageId: `registry.example.com/team/${name}@sha256:${DIGEST_OLD}`,
  })),
  targets: [
    testTarget({ target: 'web/web-0', scope: 'web', prior: { state: 'ready', weight: 100 } }),
    testTarget({
      loadBalancer: 'inner',
      target: 'lb-0123456789/10.0.12.34:8080',
      scope: 'lb-0123456789',
      prior: { weight: 1, down: false },
    }),
  ],
}
