/** The list of providers (docs/guides/adding-a-provider.md). */
import type { Provider } from './provider.ts'
import { infobip } from './infobip/infobip.ts'
import { sandbox } from './sandbox/sandbox.ts'
import { simulator } from './simulator/simulator.ts'
import { smpp } from './smpp/smpp.ts'
import { telegramBot } from './telegram/telegram.ts'
import { twilio } from './twilio/twilio.ts'
import { vonage } from './vonage/vonage.ts'
import { whatsappCloud } from './whatsapp/whatsapp.ts'

export const providers: readonly Provider[] = [
  sandbox,
  simulator,
  infobip,
  smpp,
  telegramBot,
  twilio,
  vonage,
  whatsappCloud,
]
