import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{src,machines,adapters,sim,scripts}/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'test/**/*.cluster.test.ts'],
          testTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'cluster',
          globalSetup: ['test/cluster/global-setup.ts'],
          include: ['test/cluster/**/*.cluster.test.ts'],
          // One cluster serves all files; they run one after another on it.
          fileParallelism: false,
          maxWorkers: 1,
          testTimeout: 300_000,
          hookTimeout: 900_000,
        },
      },
    ],
  },
})
