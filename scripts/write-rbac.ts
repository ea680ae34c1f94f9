// Writes deploy/rbac.yaml, from the table of the rights of a run.
//   node scripts/write-rbac.ts
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { rbacFile } from '../src/cli/output/rbac-manifest.ts'

writeFileSync(join(resolve(import.meta.dirname, '..'), 'deploy/rbac.yaml'), rbacFile())
console.log('deploy/rbac.yaml is written')
