/// The pictures and sounds that a story names and that are not in the folder of its file.
struct MissingFiles {
  /// In the order of the text; `detail` is the index in the table's `namedFiles`.
  private(set) var faults: ContiguousArray<StoryFault> = []
  private var causes: [Int32: Cause] = [:]

  private enum Cause {
    case status(StoryFolder.Status)
    case outside, empty
  }

  /// - Parameter folder: the path of the folder
  init(of table: StoryTable, in folder: String) {
    guard !table.namedFiles.isEmpty else { return }
    let folder = StoryFolder(folder)
    var known: [[UInt8]: Cause?] = [:]
    for (index, file) in table.namedFiles.enumerated() {
      let path = Array(table.text.bytes(file.path))
      let cause = known[path] ?? Self.cause(path, in: folder)
      known[path] = .some(cause)
      guard let cause else { continue }
      let number = Int32(truncatingIfNeeded: index)
      causes[number] = cause
      faults.append(
        StoryFault(
          code: .missingAsset, offset: file.start, segment: file.segment, choice: file.choice,
          field: file.field,
          detail: number, isDowngraded: table.isImported))
    }
  }

  /// Returns why a path names no file; nil when it does, or when that cannot be known.
  private static func cause(_ path: [UInt8], in folder: StoryFolder) -> Cause? {
    switch StoryPath(path) {
    case .address: return nil
    case .outside: return .outside
    case .names(let names):
      if names.isEmpty, path.isEmpty { return .empty }
      let status = folder.status(of: names)
      return status == .file || status == .unknown ? nil : .status(status)
    }
  }

  /// Returns the end of the message of a fault.
  func reason(_ fault: StoryFault) -> String {
    switch causes[fault.detail] {
    case .outside:
      "which is not in the folder of the story: give a path that is relative to the story's file"
    case .empty: "which is empty"
    case .status(.directory): "which is a directory"
    case .status(.special): "which is not a regular file"
    case .status(.outside): "which is a link that leads out of the folder of the story"
    default: "which does not exist"
    }
  }

  /// Returns a path that was probably meant.
  func suggestion(_ fault: StoryFault) -> String? {
    if case .status(.absent(let similar)) = causes[fault.detail] { similar } else { nil }
  }
}

extension Story {
  /// Whether it names pictures or sounds that are files.
  var namesFiles: Bool { !analysis.table.namedFiles.isEmpty }
}
