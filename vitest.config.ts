import { defineConfig } from 'vitest/config'

const ALONE = ['test/cluster/**/*.alone.cluster.test.ts']
const LARGE = ['test/embedded/**/*.large.test.ts']
/** On load balancers, nearly all of them real, and by plugins that are programs: they reload, settle and start, and wait for that. */
const PRODUCTS = [
  'adapters/{endpointslice,envoy,exec,haproxy,nginx,traefik}/{conformance,endpointslice,envoy,haproxy,nginx,traefik,readme}.test.ts',
  'adapters/presets/{caddy,eureka}*.test.ts',
  'test/embedded/{aws-elbv2,caddy,endpointslice,envoy-and-traefik,exec,exec-faults,nginx,stopped-writer}.test.ts',
  'src/webhook/sources/config-map.test.ts',
  'test/package/scaffold.test.ts',
  'test/{haproxy,products}/**/*.test.ts',
]

const onCluster = {
  globalSetup: ['test/cluster/global-setup.ts'],
  testTimeout: 300_000,
  hookTimeout: 900_000,
}

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{src,machines,adapters,sim,demo,scripts}/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'test/**/*.cluster.test.ts', 'test/**/*.long.test.ts', ...LARGE, ...PRODUCTS],
          testTimeout: 30_000,
          // Not one fewer than there are processors, which is one on two of them, and takes twice as long.
          maxWorkers: '100%',
        },
      },
      {
        // Most of their time they wait, so that the tests beside them hardly take longer.
        test: { name: 'products', include: PRODUCTS, testTimeout: 30_000, hookTimeout: 60_000, maxWorkers: 2 },
      },
      {
        test: {
          // Nothing in it waits: it takes as long as the processors need, of which two machines differ by four times, and the
          // tests beside it come first. So much is left of what CI has.
          name: 'simulation',
          include: ['test/simulation/**/*.long.test.ts'],
          testTimeout: 4_500_000,
          // As the workers of the simulation have it: test/simulation/seeds.ts.
          execArgv: ['--use-largepages=silent'],
        },
      },
      {
        // What it takes on this machine depends on who else is at work.
        test: { name: 'large', include: LARGE, fileParallelism: false, testTimeout: 300_000, hookTimeout: 180_000 },
      },
      {
        test: {
          // Each test plays a part of a demo of a minute.
          name: 'demo',
          include: ['test/demo/**/*.long.test.ts'],
          testTimeout: 300_000,
        },
      },
      {
        test: {
          ...onCluster,
          name: 'cluster',
          include: ['test/cluster/**/*.cluster.test.ts'],
          exclude: ALONE,
          // They share one cluster, each file with a namespace and a HAProxy of its own; most of their time they wait.
          maxWorkers: 3,
        },
      },
      {
        test: {
          ...onCluster,
          name: 'cluster-alone',
          include: ALONE,
          // These stop the kubelet or the API server under everybody.
          fileParallelism: false,
          maxWorkers: 1,
        },
      },
    ],
  },
})
