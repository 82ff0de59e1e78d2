/** The command groups. */
import { registerAccounts } from './accounts.ts'
import { registerBackup } from './backup.ts'
import { registerCampaigns } from './campaigns.ts'
import { registerChannels } from './channels.ts'
import { registerCompletion } from './completion.ts'
import { registerDatabase } from './database.ts'
import { registerEvents } from './events.ts'
import { registerKeys } from './keys.ts'
import { registerListen } from './listen.ts'
import { registerLogin } from './login.ts'
import { registerMessages } from './messages.ts'
import { registerPackages, registerPrices, registerWallet } from './billing.ts'
import type { Register } from './program.ts'
import { registerServe } from './serve.ts'
import { registerTop } from './top.ts'
import { registerTrigger } from './trigger.ts'
import { registerUsers } from './users.ts'
import { registerWebhooks } from './webhooks.ts'

export const groups: readonly Register[] = [
  registerServe,
  registerDatabase,
  registerBackup,
  registerTop,
  registerAccounts,
  registerKeys,
  registerUsers,
  registerChannels,
  registerCampaigns,
  registerWallet,
  registerPackages,
  registerPrices,
  registerListen,
  registerLogin,
  registerMessages,
  registerTrigger,
  registerEvents,
  registerWebhooks,
  registerCompletion,
]
