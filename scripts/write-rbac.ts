// Writes deploy/rbac.yaml and the rights in deploy/webhook and deploy/sync, from the tables of rights.
//   node scripts/write-rbac.ts
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { deployedRights, rbacFile } from '../src/cli/output/rbac-manifest.ts'

const deploy = join(resolve(import.meta.dirname, '..'), 'deploy')
for (const [path, text] of Object.entries({ 'rbac.yaml': rbacFile(), ...deployedRights() })) {
  mkdirSync(dirname(join(deploy, path)), { recursive: true })
  writeFileSync(join(deploy, path), text)
  console.log(`deploy/${path} is written`)
}
