/** Loads the AWS SDK, which the user installs. */
import type * as elbv2 from '@aws-sdk/client-elastic-load-balancing-v2'
import type * as credentials from '@aws-sdk/credential-providers'
import { requirePackage } from '../plugins/require-package.ts'
import type { Elbv2Options } from './options.ts'

export type Elbv2Sdk = typeof elbv2
export type CredentialsSdk = typeof credentials

const CLIENT = '@aws-sdk/client-elastic-load-balancing-v2'
const CREDENTIALS = '@aws-sdk/credential-providers'

export interface Sdk {
  elbv2: Elbv2Sdk
  /** The credential providers. Undefined if the config has no role. */
  credentials: CredentialsSdk | undefined
}

/** @throws PluginError that tells which package to install */
export function loadSdk({ roleArn }: Pick<Elbv2Options, 'roleArn'>, folder: string): Sdk {
  return {
    elbv2: requirePackage(CLIENT, folder) as Elbv2Sdk,
    credentials: roleArn === undefined ? undefined : (requirePackage(CREDENTIALS, folder) as CredentialsSdk),
  }
}
