/** The providers that are built: one line each. */
import type { Provider } from './adapter.ts'
import { infobip } from './providers/infobip/infobip.ts'
import { sandbox } from './providers/sandbox/sandbox.ts'
import { simulator } from './providers/simulator/simulator.ts'
import { smpp } from './providers/smpp/smpp.ts'
import { telegramBot } from './providers/telegram/telegram.ts'
import { twilio } from './providers/twilio/twilio.ts'
import { vonage } from './providers/vonage/vonage.ts'
import { whatsappCloud } from './providers/whatsapp-cloud/whatsapp-cloud.ts'

export const providers: readonly Provider[] = [sandbox, simulator, infobip, smpp, telegramBot, twilio, vonage, whatsappCloud]
