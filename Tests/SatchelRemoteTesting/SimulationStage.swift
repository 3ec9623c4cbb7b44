import SatchelTesting

/// The master of a schedule, chance, and what has happened so far.
// Unchecked: the baton sees to it that only one thread at a time touches it.
package final class SimulationStage: @unchecked Sendable {
  package let setting: SimulationSetting
  package var master: SimulationMaster
  /// Numbers what devices change, so that no two changes are the same.
  package var edits = 0
  /// Whether something goes wrong now and then.
  package internal(set) var isFaulty = false
  /// Whether what was sent may arrive after its sender gave it up.
  package var allowsLateWrites = true
  private(set) var violation: SimulationViolation?
  private(set) var history: [String]?
  private var random: SeededRandom
  private var late: [(sender: ObjectIdentifier, put: () -> Void)] = []

  package init(seed: UInt64, isLogging: Bool) {
    random = SeededRandom(seed: seed)
    setting = SimulationSetting(drawnFrom: &random)
    master = SimulationMaster(tagsAreOfContent: setting.tagsAreOfContent)
    history = isLogging ? [] : nil
  }

  package func note(_ line: @autoclosure () -> String) { history?.append(line()) }

  /// Notes what must not happen; the first one counts.
  package func fail(_ error: any Error) {
    violation = violation ?? error as? SimulationViolation ?? SimulationViolation(description: "\(error)")
  }

  func check() throws { if let violation { throw violation } }

  // MARK: Chance

  /// 0 to below `bound`.
  package func chance(_ bound: Int) -> Int { Int(random.next() % UInt64(max(bound, 1))) }

  /// Nil of none.
  package func pick<Element>(_ elements: [Element]) -> Element? {
    elements.isEmpty ? nil : elements[chance(elements.count)]
  }

  func drawFault() -> SimulationFault? {
    guard isFaulty, chance(setting.rarity) == 0 else { return nil }
    let fault = pick(SimulationFault.allCases)
    return fault == .timeoutLater && !allowsLateWrites ? .timeoutBefore : fault
  }

  func drawCrash() -> Bool { isFaulty && chance(setting.rarity * 8) == 0 }

  // MARK: What is on its way

  func delay(_ sender: AnyObject, _ put: @escaping () -> Void) {
    late.append((ObjectIdentifier(sender), put))
  }

  /// Something of what is on its way may arrive.
  func deliver() { if !late.isEmpty, chance(6) == 0 { late.remove(at: chance(late.count)).put() } }

  /// What a device has sent arrives now, or never.
  func settle(_ sender: AnyObject) {
    let sender = ObjectIdentifier(sender)
    for write in late where write.sender == sender && chance(2) == 0 { write.put() }
    late.removeAll { $0.sender == sender }
  }
}
