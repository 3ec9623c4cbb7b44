import Foundation
import Satchel
import SatchelTesting
import Testing

@Suite("A store that was mutated")
struct MutationTests {
  /// `SATCHEL_MUTATIONS` says how many, `SATCHEL_FIRST_MUTATION` with which seed they begin, and
  /// `SATCHEL_HOSTILE_CASE=seed …` runs one.
  static let count = number("SATCHEL_MUTATIONS") ?? 300
  static let seeds = { first in first..<first + count }(max(number("SATCHEL_FIRST_MUTATION") ?? 1, 1))

  private static func number(_ variable: String) -> Int? {
    ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
  }

  @Test("is opened, read, written, checked and recovered without a trap or a hang")
  func mutations() throws {
    guard let role = OtherProcess.role("mutations") else {
      return try HostileRuns.all("mutations", "MutationTests/mutations")
    }
    try HostileRuns.play(role.path) { fixture, run in
      for seed in Self.seeds {
        try run(
          "seed \(seed)",
          { path in
            var mutation = StoreMutation(path, seed: seed)
            return try mutation.apply()
          }, { _ in [] })
      }
    }
  }
}
