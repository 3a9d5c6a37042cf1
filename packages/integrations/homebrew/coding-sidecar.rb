# SPDX-License-Identifier: MIT
class CodingSidecar < Formula
  desc "Tools for coding agents inside one workspace"
  homepage "https://github.com/coding-sidecar/coding-sidecar"
  version "@VERSION@"
  license "MIT"
  depends_on :linux

  on_intel do
    url "https://github.com/coding-sidecar/coding-sidecar/releases/download/v@VERSION@/sidecar-@VERSION@-linux-x86_64.tar.gz"
    sha256 "@TARBALL_x86_64@"
  end

  on_arm do
    url "https://github.com/coding-sidecar/coding-sidecar/releases/download/v@VERSION@/sidecar-@VERSION@-linux-aarch64.tar.gz"
    sha256 "@TARBALL_aarch64@"
  end

  def install
    bin.install "sidecar"
    man1.install "man/sidecar.1"
    man5.install "man/sidecar.conf.5"
    bash_completion.install "completion/sidecar.bash" => "sidecar"
    zsh_completion.install "completion/sidecar.zsh" => "_sidecar"
    fish_completion.install "completion/sidecar.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/sidecar --version")
  end
end
