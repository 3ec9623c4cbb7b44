import Foundation
import Satchel
import SatchelTesting
import Testing

/// An outbox file whose bytes were changed, of a sound store.
@Suite("An outbox file that was mutated")
struct OutboxMutationTests {
  @Test("is drained or rejected without a trap, and leaves the store sound")
  func outboxes() throws {
    guard let role = OtherProcess.role("outbox") else {
      return try HostileRuns.all("outbox", "OutboxMutationTests/outboxes")
    }
    try HostileRuns.play(role.path) { fixture, run in
      let outbox = try fixture.outbox()
      for seed in 1...max(MutationTests.count / 6, 1) {
        try run(
          "outbox seed \(seed)",
          { path in
            var random = SeededRandom(seed: UInt64(seed))
            try Self.mutated(outbox, &random).write(to: URL(filePath: path + ".outbox"))
            return true
          }, Self.faults)
      }
    }
  }

  private static func mutated(_ outbox: Data, _ random: inout SeededRandom) -> Data {
    var data = outbox
    switch random.below(6) {
    case 0: data = data.prefix(random.below(data.count))
    case 1: data.append(contentsOf: (0..<random.below(500)).map { _ in UInt8(random.below(256)) })
    case 2: data.append(contentsOf: Data(count: random.below(5000)))
    case 3:
      let start = random.below(data.count)
      data.replaceSubrange(start..<min(start + random.below(64), data.count), with: Data())
    default:
      for _ in 0...random.below(8) {
        data[random.below(data.count)] = random.once(in: 3) ? 0xFF : UInt8(random.below(256))
      }
    }
    return data
  }

  /// The file of the store is sound: whatever the outbox contains, the store stays so.
  private static func faults(_ exercise: StoreExercise) -> [String] {
    var faults: [String] = []
    if let refusal = exercise.refusal { faults.append("the store is refused: \(refusal)") }
    let findings = exercise.findings.filter { !$0.message.contains(".outbox") }
    if !findings.isEmpty { faults.append("check: \(findings.prefix(3))") }
    return faults
  }
}

extension HostileFixture {
  /// The outbox file of a store that cannot be written while records and state are saved.
  func outbox() throws -> Data {
    let path = folder.path + "/spooling.satchel"
    try bytes.write(to: URL(filePath: path))
    let other = try RawStore(path)
    try other.run("BEGIN IMMEDIATE")
    var options = StoreOptions()
    options.busyTimeout = 10
    options.clock = Clock { Self.start }
    let store = try Store(path: path, options: options)
    let courses = try store.records("courses")
    for number in 0..<4 {
      _ = try courses.put("c\(number)", ["name": .string("Spooled \(number)"), "teacher": "t1"])
    }
    _ = try courses.delete("c9")
    try store.state.set("theme", "spooled")
    try store.state.list("history", limit: 10).push("spooled")
    _ = try store.state.set(named: "seen").add("spooled")
    try store.state.scores("likes").add("tea", 0.25)
    _ = try store.state.flush()
    try? store.close()
    let outbox = try Data(contentsOf: URL(filePath: path + ".outbox"))
    try other.run("ROLLBACK")
    return outbox
  }
}
