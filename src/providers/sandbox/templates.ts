/** The templates of the sandbox's WhatsApp channel; any other name is accepted there all the same. */
import type { TemplateRecord } from '../provider.ts'

const sampleTime = '2026-01-01T00:00:00.000Z'
const sample = (
  name: string,
  status: string,
  body: string,
  category = 'UTILITY',
  rejected_reason: string | null = null,
): TemplateRecord => ({
  provider_id: name,
  name,
  language: 'en_US',
  category,
  status,
  parameter_format: 'POSITIONAL',
  components: [{ type: 'BODY', text: body }],
  rejected_reason,
  updated_at: sampleTime,
})

export const templates: readonly TemplateRecord[] = [
  sample('hello_world', 'APPROVED', 'Hello {{1}}'),
  sample('order_update', 'APPROVED', 'Your order {{1}} is now {{2}}.'),
  sample('appointment_reminder', 'PENDING', 'See you on {{1}} at {{2}}.'),
  sample('flash_sale', 'REJECTED', 'Only today: {{1}} off!', 'MARKETING', 'PROMOTIONAL'),
  sample('winter_offer', 'PAUSED', 'Winter offer: {{1}}', 'MARKETING'),
]
