import Foundation
import Satchel
import SatchelTesting
import Testing

@Suite("A store that was mutated")
struct MutationTests {
  /// `SATCHEL_MUTATIONS` says how many, `SATCHEL_HOSTILE_CASE=seed …` runs one.
  static let count = ProcessInfo.processInfo.environment["SATCHEL_MUTATIONS"].flatMap { Int($0) } ?? 300

  @Test("is opened, read, written, checked and recovered without harm")
  func mutations() throws {
    guard let role = OtherProcess.role("mutations") else {
      return try HostileRuns.all("mutations", "MutationTests/mutations")
    }
    try HostileRuns.play(role.path) { fixture, run in
      for seed in 1...Self.count {
        try run(
          "seed \(seed)",
          { path in
            defer { unlink(path + ".sound") }
            try fixture.bytes.write(to: URL(filePath: path + ".sound"))
            var mutation = StoreMutation(path, seed: seed)
            return try mutation.apply()
          }, { _ in [] })
      }
    }
  }
}
