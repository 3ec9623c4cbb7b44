/// The steps of a schedule that random ones do not reach: with two devices, and without random faults and edits.
package struct SimulationScript<World: SimulatedWorld>: Sendable {
  package let steps: @Sendable (World) throws -> Void

  package init(_ steps: @escaping @Sendable (World) throws -> Void) { self.steps = steps }

  /// Makes the setting of a schedule that of a script.
  package static func adapt(_ setting: inout SimulationSetting) {
    setting.devices = 2
    setting.rarity = 0
    setting.pausesAtLedger = false
    setting.beginsSynced = false
  }
}
