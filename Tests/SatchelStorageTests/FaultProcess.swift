import Foundation

/// This test program, started once more to run one test in a role.
final class OtherProcess {
  private static let key = "SATCHEL_TEST_STORAGE_ROLE"
  private let process = Process()

  /// - Parameters:
  ///   - test: suite and function of the test that plays the role
  ///   - name: which of several it is
  init(_ test: String, _ role: String, _ name: String, _ path: String) throws {
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["--testing-library", "swift-testing", "--filter", test]
    process.environment = ProcessInfo.processInfo.environment.merging([Self.key: "\(role) \(name) \(path)"]) {
      $1
    }
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

  /// Waits for the end.
  ///
  /// - Returns: whether all went well
  func finish() -> Bool {
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  /// What this process is to play; nil in the first one.
  static func role(_ role: String) -> (name: String, path: String)? {
    let parts = ProcessInfo.processInfo.environment[key]?.split(separator: " ", maxSplits: 2).map(String.init)
    guard let parts, parts.count == 3, parts[0] == role else { return nil }
    return (parts[1], parts[2])
  }
}
