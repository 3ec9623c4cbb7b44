import SatchelCore

/// A profile in the files that AWS's tools share: `~/.aws/credentials` and `~/.aws/config`. They are read again for each
/// question, since other programs renew what is in them.
struct SharedProfile: Sendable {
  /// Larger files are not read.
  private static let maxSize = 1 << 20
  /// Keys of profiles that need other programs.
  private static let others = [
    "sso_session", "sso_start_url", "role_arn", "credential_process", "web_identity_token_file",
  ]

  private let name: String
  /// Whether the caller has named it, so that nothing else counts.
  let isNamed: Bool
  private let environment: @Sendable (String) -> String?

  /// - Parameter name: nil for that of AWS_PROFILE, or "default"
  init(_ name: String?, _ environment: @escaping @Sendable (String) -> String?) {
    isNamed = name != nil
    self.environment = environment
    self.name = name ?? Self.given(environment("AWS_PROFILE")) ?? "default"
  }

  /// Returns a value of the configuration; nil where it is missing.
  func value(_ key: String) -> String? { Self.given(configuration()[key]) }

  /// Returns the keys: those of the profile when the caller has named it; else those of the environment, if there are
  /// any.
  ///
  /// - Throws: `.failed(.invalid)` when they are missing
  func credentials() throws(ObjectStoreError) -> Credentials {
    if !isNamed, let access = Self.given(environment("AWS_ACCESS_KEY_ID")),
      let secret = Self.given(environment("AWS_SECRET_ACCESS_KEY"))
    {
      return try Credentials(
        accessKey: access, secretKey: secret, sessionToken: Self.given(environment("AWS_SESSION_TOKEN")))
    }
    let configuration = configuration()
    for values in [self.values(credentialsFile, section: name), configuration] {
      guard let access = Self.given(values["aws_access_key_id"]),
        let secret = Self.given(values["aws_secret_access_key"])
      else { continue }
      return try Credentials(
        accessKey: access, secretKey: secret, sessionToken: Self.given(values["aws_session_token"]))
    }
    let where_ =
      isNamed ? "" : "\"access_key\" and \"secret_key\" are neither given nor in the environment, and "
    var message = "no credentials: \(where_)the profile \"\(name.prefix(64))\" of ~/.aws has no keys"
    if let other = Self.others.first(where: { configuration[$0] != nil }) {
      message += " (but \(other), which needs a function that gives the credentials)"
    }
    throw ObjectStoreError(.failed(.invalid), message)
  }

  private var credentialsFile: String? { path("AWS_SHARED_CREDENTIALS_FILE", "credentials") }

  private func configuration() -> [String: String] {
    values(path("AWS_CONFIG_FILE", "config"), section: name == "default" ? name : "profile " + name)
  }

  private func path(_ variable: String, _ name: String) -> String? {
    Self.given(environment(variable)) ?? Self.given(environment("HOME")).map { "\($0)/.aws/\(name)" }
  }

  private static func given(_ value: String?) -> String? { value?.isEmpty == false ? value : nil }

  /// Reads the values of a section; none of a file that is missing or not readable.
  private func values(_ path: String?, section wanted: String) -> [String: String] {
    guard let path, let bytes = Self.read(path) else { return [:] }
    var (values, isWanted) = ([String: String](), false)
    for line in bytes.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
      // An indented line belongs to the value above it, which is not one of those that are wanted.
      guard let first = line.first, !Self.isSpace(first), first != UInt8(ascii: "#"),
        first != UInt8(ascii: ";")
      else { continue }
      if first == UInt8(ascii: "[") {
        let name = line.dropFirst().prefix { $0 != UInt8(ascii: "]") }
        isWanted = name.split(whereSeparator: Self.isSpace).elementsEqual(wanted.utf8.split(separator: 0x20))
        {
          $0.elementsEqual($1)
        }
      } else if isWanted, let equals = line.firstIndex(of: UInt8(ascii: "=")) {
        let key = String(decoding: Self.trimmed(line[..<equals]), as: UTF8.self).lowercased()
        values[key] = String(decoding: Self.trimmed(line[(equals + 1)...]), as: UTF8.self)
      }
    }
    return values
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = bytes.drop(while: isSpace)
    while let last = rest.last, isSpace(last) { rest = rest.dropLast() }
    return rest
  }

  private static func read(_ path: String) -> [UInt8]? {
    let number = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    guard number >= 0 else { return nil }
    let file = Descriptor(number)
    var (bytes, count) = ([UInt8](repeating: 0, count: maxSize), 0)
    while count < maxSize {
      let next = bytes.withUnsafeMutableBytes {
        pread(file.number, $0.baseAddress.map { $0 + count }, $0.count - count, off_t(count))
      }
      if next < 0, errno == EINTR { continue }
      guard next >= 0 else { return nil }
      if next == 0 { return Array(bytes.prefix(count)) }
      count += next
    }
    return nil
  }
}

/// The proxy that the environment names, as curl and other programs read it.
struct ProxySettings {
  private let environment: (String) -> String?

  init(_ environment: @escaping (String) -> String?) { self.environment = environment }

  /// Returns the URL of the proxy for an endpoint; nil for one on this machine, and one that NO_PROXY names.
  func proxy(for endpoint: S3Endpoint) -> String? {
    // An upper-case HTTP_PROXY could come from a request to a CGI program.
    let names =
      endpoint.isSecure
      ? ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] : ["http_proxy", "all_proxy", "ALL_PROXY"]
    guard let proxy = names.lazy.compactMap(environment).first(where: { !$0.isEmpty }) else { return nil }
    let host = endpoint.hostName
    if host == "localhost" || host.hasPrefix("127.") || host == "[::1]" { return nil }
    let excluded = environment("no_proxy") ?? environment("NO_PROXY") ?? ""
    for name in excluded.lowercased().split(whereSeparator: { $0 == "," || $0 == " " }) {
      if name == "*" { return nil }
      let name = name.hasPrefix(".") ? name.dropFirst() : name
      if host == name || host.hasSuffix("." + name) { return nil }
    }
    return proxy
  }
}
