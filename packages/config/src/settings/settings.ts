import { featureSettings } from "./feature-settings.js";
import { limitSettings } from "./limit-settings.js";
import { placeSettings } from "./place-settings.js";
import { timingSettings } from "./timing-settings.js";

/** Every variable of the environment that Mainstay reads, by the field it becomes. */
export const settings = {
  ...placeSettings,
  ...timingSettings,
  ...limitSettings,
  ...featureSettings,
} as const;

/** The catalogue in the groups that the reference prints. */
export const settingGroups = [
  { title: "Places and services", settings: placeSettings },
  { title: "Times", settings: timingSettings },
  { title: "Limits", settings: limitSettings },
  { title: "Features", settings: featureSettings },
] as const;
