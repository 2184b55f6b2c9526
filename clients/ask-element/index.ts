import { SluiceAsk } from './element.ts'

export { SluiceAsk }

// A page may load the script twice.
if (customElements.get('sluice-ask') === undefined) customElements.define('sluice-ask', SluiceAsk)
