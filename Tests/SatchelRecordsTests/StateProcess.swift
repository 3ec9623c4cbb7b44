import Foundation

/// This test program, started once more to play a role, and killed.
final class StateProcess {
  private static let key = "SATCHEL_TEST_STATE_ROLE"
  private let process = Process()

  /// - Parameter test: suite and function of the test that plays the role
  init(_ test: String, _ role: String, _ path: String) throws {
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--testing-library", "swift-testing", "--filter", test]
    process.environment = ProcessInfo.processInfo.environment.merging([Self.key: "\(role) \(path)"]) { $1 }
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
  }

  deinit { kill() }

  func kill() {
    guard process.isRunning else { return }
    Glibc.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// What this process is to play; nil in the first one.
  static func path(_ role: String) -> String? {
    let parts = ProcessInfo.processInfo.environment[key]?.split(separator: " ", maxSplits: 1).map(String.init)
    guard let parts, parts.count == 2, parts[0] == role else { return nil }
    return parts[1]
  }
}
